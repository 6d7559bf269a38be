// Lets what a page's scripts listen on look, until the answer is taken back, as what can be clicked: the snapshot shows and addresses only what looks so.
// It is done with animations, which change nothing in the document and end by themselves. It answers with them.
(() => {
  const HEARD = ['click', 'dblclick', 'mousedown', 'mouseup', 'pointerdown', 'pointerup'];
  const KNOWN = 'a[href],button,input,select,textarea,option,label,summary,iframe,[contenteditable],[role=button],[role=link],[role=tab],[role=menuitem],'
    + '[role=checkbox],[role=radio],[role=switch],[role=option],[role=textbox],[role=combobox],[role=slider],[role=treeitem]';
  const MOST = 20000, WORDS = 200, LENT = 1000, LASTS = 10000;
  const roots = [document], elements = [];
  for (const root of roots) for (const element of (root.body || root).querySelectorAll('*')) {
    elements.push(element);
    if (element.shadowRoot) roots.push(element.shadowRoot);
    try { if (element.contentDocument) roots.push(element.contentDocument); } catch { /* a frame of another site */ }
  }
  if (elements.length > MOST) return [];

  const holds = new Set(), lent = new Map(), divided = new Set();
  const isWord = element => element.childNodes.length === 1 && element.firstChild.nodeType === 3 && getComputedStyle(element).display === 'inline';
  const points = element => !!element && getComputedStyle(element).cursor === 'pointer';
  const listens = element => { const heard = getEventListeners(element); return HEARD.some(kind => heard[kind]); };
  const acts = element => element.getAttribute('draggable') === 'true' || (element.tabIndex >= 0 && !element.textContent.trim())
    || (points(element) && !points(element.parentElement)) || listens(element);
  const hasWords = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  // A control within a larger one, such as a star in a row that opens: the rest of the row stands for the row.
  const divide = element => {
    const around = [];
    for (let up = element.parentElement; points(up); up = up.parentElement) around.push(up);
    if (!around.some(hasWords)) around.forEach(up => divided.add(up));
  };
  // The snapshot joins an element of words alone to what holds nothing else: that then stands for it, where a click in its middle meets it.
  const holder = element => {
    const up = element.parentElement, { x, y, width, height } = up.getBoundingClientRect(), box = element.getBoundingClientRect();
    const inside = x + width / 2 > box.left && x + width / 2 < box.right && y + height / 2 > box.top && y + height / 2 < box.bottom;
    return up !== up.ownerDocument.body && !element.ownerSVGElement && up.childElementCount === 1 && !hasWords(up) && inside ? up : null;
  };
  const lend = element => {
    lent.set(element, isWord(element) ? { cursor: 'pointer', display: 'ruby' } : { cursor: 'pointer' });
    if (!element.querySelector('*>*') && hasWords(element)) for (let up = element.parentElement && holder(element); up; up = up.parentElement && holder(up)) lent.set(up, { cursor: 'pointer' });
  };
  for (const element of elements.reverse()) {
    const known = element.matches(KNOWN);
    if (!known && !acts(element)) continue;
    if (!known && !holds.has(element) && element.textContent.length <= WORDS && !element.parentElement?.closest(KNOWN)) {
      const entries = element.matches('ul,ol') ? [...element.children] : [];
      for (const one of entries.length > 1 ? entries : [element]) {
        if (points(one)) divide(one);
        lend(one);
      }
    }
    for (let up = element.parentElement; up && !holds.has(up); up = up.parentElement) holds.add(up);
  }
  for (const element of divided) {
    for (const child of element.children) if (!divided.has(child) && !lent.has(child) && child.textContent.trim()) lend(child);
    lent.set(element, { cursor: 'default' });
  }
  return [...lent].slice(-LENT).map(([element, look]) => element.animate([look, look], { duration: LASTS }));
})()
