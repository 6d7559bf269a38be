// Answers once the document has not changed for `still` ms, or after `most` ms. One that does not change at all
// answers after `first` ms, and at 0 after two frames.
([still, most, first]) => new Promise(done => {
  let timer = 0, changed = false;
  const observer = new MutationObserver(() => { changed = true; clearTimeout(timer); timer = setTimeout(end, still); });
  const end = () => { clearTimeout(timer); clearTimeout(last); observer.disconnect(); done(changed); };
  const last = setTimeout(end, most);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  timer = setTimeout(end, Math.max(still, first));
  if (!first) requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => changed || end(), 0)));
})
