// Groups of alike elements beside each other, such as products in a grid: each as its pieces of text with the words its page gives them, and where
// they lead; and the amounts of money that stand outside these, menus and what is struck out. It reads and changes nothing, and answers in JSON.
() => {
  const PIECES = 6000, CARDS = 300, CELLS = 40, DEPTH = 12, TEXT = 300;
  const SKIP = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'SVG', 'svg', 'IFRAME', 'OBJECT', 'TABLE', 'SELECT']);
  const squeeze = text => text.replace(/\s+/g, ' ').trim().slice(0, TEXT);
  const words = element => [element.getAttribute('itemprop') || '', typeof element.className === 'string' ? element.className : '']
    .join(' ').replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(/[^\p{L}]+/u).filter(word => word.length > 1);
  const isShown = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const kind = element => element.tagName + ' ' + ((typeof element.className === 'string' ? element.className : '').trim().split(/\s+/)[0] || '');

  const cells = card => {
    const found = [], own = new Set(words(card));
    const add = (called, text, url) => { if (squeeze(text)) found.push([called, squeeze(text), url || '']); };
    const visit = (element, around, link, depth) => {
      if (depth > DEPTH || found.length > CELLS || SKIP.has(element.tagName) || !isShown(element)) return;
      const called = element === card ? around : [...around, ...words(element).filter(word => !own.has(word) && !around.includes(word))];
      const leads = element.tagName === 'A' && element.href ? element.href : link;
      if (/^H[1-6]$/.test(element.tagName)) add('heading', element.innerText, leads || (element.querySelector('a[href]') || {}).href);
      if (element.tagName === 'A' && element.href) add('link', element.innerText, element.href);
      const name = element.getAttribute('aria-label') || element.getAttribute('alt');
      if (name) add(called.join(' '), name, leads);
      const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join(' ');
      add(called.join(' '), text, leads);
      for (const child of element.children) visit(child, called, leads, depth + 1);
    };
    visit(card, [], '', 0);
    return found;
  };

  const AROUND = 'nav,header,footer,aside,a,button,select,del,s,[role=navigation],[role=banner],[role=contentinfo],[role=search]';
  const isStruck = element => element && (getComputedStyle(element).textDecorationLine.includes('line-through') || isStruck(element.parentElement));
  const amounts = grouped => {
    const found = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = squeeze(texts.currentNode.data), parent = texts.currentNode.parentElement;
      if (!/\p{Sc}/u.test(text) || !parent || SKIP.has(parent.tagName) || parent.closest(AROUND) || !isShown(parent) || isStruck(parent)) continue;
      let up = parent;
      while (up && !grouped.has(up)) up = up.parentElement;
      if (!up) found.add(text);
    }
    return [...found];
  };

  const groups = [], grouped = new Set();
  let room = PIECES;
  for (const parent of document.body ? document.body.querySelectorAll('*') : []) {
    if (room <= 0) break;
    if (parent.childElementCount < 2 || SKIP.has(parent.tagName)) continue;
    const alike = new Map();
    for (const child of parent.children) {
      if (child.matches('li:not(:only-child),article:not(:only-of-type)')) grouped.add(child);
      if (SKIP.has(child.tagName) || child.childElementCount < 2 && !(child.firstElementChild || {}).childElementCount) continue;
      alike.set(kind(child), [...(alike.get(kind(child)) || []), child]);
    }
    for (const those of alike.values()) {
      if (those.length < 2) continue;
      const rows = those.slice(0, CARDS).map(cells).filter(row => row.length > 1 && row.length <= CELLS);
      if (rows.length < 2) continue;
      room -= rows.reduce((sum, row) => sum + row.length, 0);
      groups.push(rows);
      those.forEach(card => grouped.add(card));
    }
  }
  return JSON.stringify({ cards: groups, amounts: document.body ? amounts(grouped) : [] });
}
