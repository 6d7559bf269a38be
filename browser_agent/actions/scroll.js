// Scrolls the area an element is in, or the page, by one screen or to an end. At the end of what goes downwards it waits, at most
// `most` ms, for more to come. Answers "nowhere", "moved", or "grew".
([start, direction, most]) => new Promise(done => {
  let area = start;
  const sideways = direction === 'left' || direction === 'right';
  const room = e => sideways ? e.scrollWidth - e.clientWidth : e.scrollHeight - e.clientHeight;
  while (area && !(room(area) > 4 && /auto|scroll/.test(getComputedStyle(area).overflow))) area = area.parentElement;
  area = area || document.scrollingElement || document.documentElement;
  const before = [area.scrollLeft, area.scrollTop], height = area.scrollHeight;
  const x = area.clientWidth * 0.9, y = area.clientHeight * 0.9;
  const by = { up: [0, -y], down: [0, y], left: [-x, 0], right: [x, 0], top: [0, -1e9], bottom: [0, 1e9] }[direction];
  const go = (left, top) => area.scrollBy({ left, top, behavior: 'instant' });
  go(...by);
  const moved = area.scrollLeft !== before[0] || area.scrollTop !== before[1];
  const end = () => area.scrollTop + area.clientHeight >= area.scrollHeight - 4;
  if (!by[1] || by[1] < 0 || room(area) <= 4 || !end()) { done(moved ? 'moved' : 'nowhere'); return; }
  if (!moved) { go(0, -60); go(0, 60); }  // some lists go on only when they are told of a move
  const observer = new MutationObserver(() => area.scrollHeight > height + 4 && finish('grew'));
  const finish = what => { clearTimeout(timer); observer.disconnect(); done(what); };
  const timer = setTimeout(() => finish(area.scrollHeight > height + 4 ? 'grew' : moved ? 'moved' : 'nowhere'), most);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
})
