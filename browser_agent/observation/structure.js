// One pass over a frame's live document. It reads and changes nothing.
// `text` asks for the main text in sections, `whole` for the search forms too; a sub-frame of another site, or one that is not shown, gives only what
// must be hidden.
// It answers in JSON: one string crosses to us several times faster than the values it holds.
([wanted, whole]) => {
  const isShown = frame => {
    const element = frame === frame.top ? null : frame.frameElement;
    return !element || (element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && isShown(frame.parent));
  };
  const text = wanted && isShown(window);
  const TEXT = 1500000, PIECES = 400, PIECE = 400, LABEL = 60;
  const SKIP = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'SVG', 'svg', 'CANVAS', 'IFRAME', 'OBJECT', 'VIDEO', 'AUDIO']);
  const BLOCK = new Set(['ADDRESS', 'ARTICLE', 'ASIDE', 'BLOCKQUOTE', 'BODY', 'CAPTION', 'DD', 'DETAILS', 'DIALOG', 'DIV', 'DL', 'DT', 'FIELDSET',
    'FIGCAPTION', 'FIGURE', 'FOOTER', 'FORM', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'HEADER', 'HR', 'LEGEND', 'LI', 'MAIN', 'NAV', 'OL', 'P', 'PRE',
    'SECTION', 'SUMMARY', 'TABLE', 'TBODY', 'TFOOT', 'THEAD', 'TR', 'UL']);
  const ASIDE = 'nav,header,footer,aside,[role=navigation],[role=banner],[role=contentinfo],[role=complementary],[role=search]';
  const CONTROL = 'a[href],button,label,select,option,summary,[role=button],[role=link],[role=tab],[role=menuitem],[role=checkbox],[role=radio],[role=option]';
  const squeeze = text => text.replace(/\s+/g, ' ').trim();
  const width = Math.max(document.documentElement.scrollWidth, innerWidth);
  const scrolled = scrollY > 4;

  const hidden = [], veiled = [], secrets = [], shown = [];
  let joined = false, room = TEXT;

  const wide = document.body ? document.body.textContent.length : 0;
  const named = document.querySelector('main,[role=main]');
  const root = named && named.textContent.length > wide / 5 ? named : document.body;
  const apart = element => root === document.body && element !== root && element.matches(ASIDE);

  const sections = [];
  const open = (title, level, anchor, defined) => {
    const section = { title, level, anchor, defined, lines: [] };
    sections.push(section);
    return section;
  };
  let current = open('', 0, '', null), buffer = '';
  const flush = element => {
    const line = buffer.replace(/[^\S\t]+/g, ' ').replace(/ ?\t ?/g, '\t').trim();
    buffer = '';
    if (!line || room <= 0) return;
    room -= line.length;
    current.lines.push(line);
    if (scrolled && shown.length < 60 && element && element.getBoundingClientRect) {
      const box = element.getBoundingClientRect();
      if (box.bottom > 0 && box.top < innerHeight && box.height < innerHeight * 2) shown.push(line.slice(0, 60));
    }
  };

  const seen = (element, style) => {
    const opacity = style.opacity;
    if (opacity !== '1' && parseFloat(opacity) < 0.1) return false;
    const placed = style.position, clipped = style.overflow !== 'visible';
    if (clipped || placed === 'absolute' || placed === 'fixed' || placed === 'relative') {
      const box = element.getBoundingClientRect();
      if (clipped && (box.width <= 1.5 || box.height <= 1.5) && element.textContent) return false;
      if (box.width && box.height && (box.right + scrollX <= 0 || box.bottom + scrollY <= 0 || box.left + scrollX >= width + 50)) return false;
    }
    for (let child = element.firstChild; child; child = child.nextSibling)
      if (child.nodeType === 3 && child.data.length > 2) return parseFloat(style.fontSize) > 2 && parseFloat(style.textIndent) > -500;
    return true;
  };
  const veil = text => {
    if (!text) return;
    if (joined && hidden.length) hidden[hidden.length - 1].push(text.slice(0, PIECE));
    else if (hidden.length < PIECES) hidden.push([text.slice(0, PIECE)]);
    joined = true;
  };
  const hide = (element, block) => {
    if (block) joined = false;
    const control = element.closest(CONTROL);
    if (control) {
      const label = squeeze(element.textContent);
      if (label && (control === element || label.length > LABEL) && veiled.length < PIECES) veiled.push(label.slice(0, PIECE));
    }
    for (const inner of element.querySelectorAll(CONTROL)) {
      const label = squeeze(inner.textContent);
      if (label && veiled.length < PIECES) veiled.push(label.slice(0, PIECE));
    }
    if (control) return;
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const parent = texts.currentNode.parentElement;
      if (!parent || SKIP.has(parent.nodeName) || parent.closest(CONTROL)) continue;
      veil(squeeze(texts.currentNode.data));
    }
    if (block) joined = false;
  };
  const secret = element => {
    const guarded = (IS_PASSWORD)(element);
    if (guarded && element.value) secrets.push(element.value);
  };

  const anchorOf = heading => {
    if (heading.id) return heading.id;
    const inner = heading.querySelector('a[id],a[name],span[id]');
    if (inner && inner.id) return inner.id;
    if (inner && inner.name) return inner.name;
    for (let up = heading.parentElement, step = 0; up && up !== root && step < 5; up = up.parentElement, step++)
      if (up.id) return up.querySelector('h1,h2,h3,h4,h5,h6') === heading ? up.id : '';
    const before = heading.previousElementSibling;
    return before && !before.textContent.trim() ? before.id || before.getAttribute('name') || '' : '';
  };
  const visibleText = element => {
    let text = '';
    const visit = node => {
      if (node.nodeType === 3) text += node.data;
      else if (node.nodeType === 1 && !SKIP.has(node.nodeName) && node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) node.childNodes.forEach(visit);
    };
    element.childNodes.forEach(visit);
    return squeeze(text);
  };
  const KIND = /^(?:(?:abstract|async|awaitable|class|classmethod|const|coroutine|def|exception|final|function|property|static|staticmethod)\s+|@\s*)+/;
  const definedBy = (term, title) => {
    const lead = title.replace(KIND, '');
    const called = (lead.match(/^[^\s(]+(?=\s*\()/) || lead.match(/^\S+$/) || [''])[0];
    const id = term.id;
    if (/^[A-Za-z_][\w]*(\.\w+)+$/.test(id) && id.split('.').pop() === called.split('.').pop()) return id;
    const code = term.querySelector('code,b,strong,tt,.term');
    return (called || code && visibleText(code) || lead).slice(0, 80);
  };

  const walk = (node, inside) => {
    if (node.nodeType === 3) {
      if (!node.data) return;
      if (node.data.trim()) joined = false;
      if (inside) buffer += node.data;
      return;
    }
    if (node.nodeType !== 1 || SKIP.has(node.nodeName)) return;
    const element = node;
    if (element.nodeName === 'INPUT' || element.nodeName === 'TEXTAREA') { secret(element); return; }
    const style = getComputedStyle(element);
    if (style.display === 'none') return;
    if (style.visibility !== 'visible' && !element.childElementCount) return;
    const block = BLOCK.has(element.nodeName) || element.nodeName === 'BR' || style.display === 'block' || style.display === 'flex' || style.display === 'grid';
    if (!seen(element, style)) { hide(element, block); return; }
    if (block) joined = false;
    const main = text && (inside || element === root) && !apart(element);
    if (!main) { down(element, false, style); return; }
    if (/^H[1-6]$/.test(element.nodeName) || element.getAttribute('role') === 'heading') {
      flush(element);
      const title = visibleText(element);
      const level = +element.nodeName[1] || +element.getAttribute('aria-level') || 2;
      if (title) current = open(title, level, anchorOf(element), null);
      down(element, false, style);
      return;
    }
    if (element.nodeName === 'DL') { flush(element); definitions(element, style); return; }
    if (element.nodeName === 'PRE') {
      flush(element);
      for (const line of element.textContent.split('\n')) if (line.trim() && room > 0) { room -= line.length; current.lines.push(line.trimEnd()); }
      down(element, false, style);
      return;
    }
    if (element.nodeName === 'TD' || element.nodeName === 'TH') { if (buffer.trim()) buffer += '\t'; down(element, true, style); return; }
    if (block) flush(element);
    down(element, true, style);
    if (block) flush(element);
  };
  const down = (element, inside, style) => {
    const own = style.visibility === 'visible';
    if (element.shadowRoot) for (const child of element.shadowRoot.childNodes) walk(child, inside);
    for (const child of element.childNodes) if (own || child.nodeType === 1) walk(child, inside);
  };
  const definitions = (list, style) => {
    const outer = current;
    let terms = [], mine = outer;
    const items = [];
    for (const child of list.children) items.push(...(child.nodeName === 'DIV' ? child.children : [child]));
    for (const item of items) {
      current = outer;
      if (item.nodeName === 'DT') {
        const title = visibleText(item);
        down(item, false, getComputedStyle(item));
        if (title.endsWith(':')) { current = mine; buffer += title; flush(item); continue; }  // a field of the definition above, not a name
        if (title) {
          terms.push(title);
          const first = terms.length === 1;
          if (first) mine = open(title, 7, item.id || (item.querySelector('[id]') || {}).id || '', definedBy(item, title));
          else { mine.title = (mine.title + '\n' + title).slice(0, 400); }
        }
      } else {
        terms = [];
        current = mine;
        walk(item, true);
        flush(item);
      }
    }
    current = outer;
  };

  // The form that searches the site and is asked by its address alone. It is known by its markup and not by any name: a search field, a search
  // landmark, or a form that only asks for a page and has one text to fill in.
  const search = () => {
    const PLAIN = ['text', 'search'], UNTYPED = ['hidden', 'submit', 'image', 'button', 'reset', 'checkbox', 'radio'];
    const typed = form => [...form.elements].filter(part => part.nodeName === 'TEXTAREA' || (part.nodeName === 'INPUT' && !UNTYPED.includes(part.type)));
    const asks = form => form.method === 'get' && ![...form.elements].some(part => part.formMethod && part.formMethod !== 'get');
    const found = [];
    for (const input of document.querySelectorAll('input,[role=searchbox]')) {
      const form = input.form || input.closest('form'), field = input.type === 'search' || input.getAttribute('role') === 'searchbox';
      if (input.nodeName === 'INPUT' && !PLAIN.includes(input.type)) continue;
      const inside = !!input.closest('[role=search],search');
      if (!form || !input.name || !asks(form) || !(field || inside || typed(form).length === 1)) continue;
      const action = new URL(form.getAttribute('action') || '', document.baseURI).href;
      const visible = !input.checkVisibility || input.checkVisibility({ checkVisibilityCSS: true });
      const extra = [];
      for (const other of form.elements) if (other.type === 'hidden' && other.name) extra.push([other.name, other.value]);
      found.push([4 * field + 2 * inside + visible, { param: input.name, action, extra }]);
    }
    return found.length ? found.sort((a, b) => b[0] - a[0])[0][1] : null;
  };

  // What the site's own search keeps of the words that were asked of it, where the page holds that index itself, as Sphinx's results page does.
  const index = () => {
    const PAGES = 4000, WORDS = 96, ENTRIES = 60000;
    let held = null;
    try { held = Search._index; } catch { return null; }
    if (!held || !Array.isArray(held.docnames) || typeof held.terms !== 'object') return null;
    const options = typeof DOCUMENTATION_OPTIONS === 'object' ? DOCUMENTATION_OPTIONS : {};
    const start = new URL(document.documentElement.dataset.content_root || options.URL_ROOT || './', document.baseURI);
    const folders = options.BUILDER === 'dirhtml';
    const address = name => new URL(folders ? name.replace(/(^|\/)index$/, '$1').replace(/([^/])$/, '$1/') : name + (options.LINK_SUFFIX || '.html'), start).href;
    const all = listed => listed === undefined ? [] : Array.isArray(listed) ? listed : [listed];
    const stemmer = typeof Stemmer === 'function' ? new Stemmer() : { stemWord: word => word };
    const own = (kept, word) => kept && Object.hasOwn(kept, word) ? all(kept[word]) : [];
    const asked = new Map();
    for (const word of (new URLSearchParams(location.search).get('q') || '').toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean).slice(0, WORDS))
      asked.set(word, stemmer.stemWord(word));
    const headed = new Map([...asked.values()].map(stem => [stem, new Set()])), stems = new Map();
    for (const entries of [held.alltitles, held.indexentries]) for (const [title, places] of Object.entries(entries || {}).slice(0, ENTRIES))
      for (const word of title.toLowerCase().split(/[^\p{L}\p{N}_]+/u)) {
        if (!stems.has(word)) stems.set(word, stemmer.stemWord(word));
        const pages = headed.get(stems.get(word));
        if (pages) for (const place of all(places)) pages.add(Array.isArray(place) ? place[0] : place);
      }
    const pages = held.docnames.slice(0, PAGES).map((name, page) => ({ url: address(name), title: squeeze(String(held.titles[page] || '').replace(/<[^>]*>/g, '')) }));
    const near = listed => [...listed].filter(page => Number.isInteger(page) && page >= 0 && page < pages.length);
    const words = [...asked].map(([word, stem]) => {
      const titled = own(held.titleterms, stem);
      return { word, pages: near(new Set([...own(held.terms, stem), ...own(held.terms, word), ...titled])), titled: near(new Set([...titled, ...headed.get(stem)])) };
    });
    return { pages, words };
  };

  const indexed = () => {
    try { return index(); } catch { return null; }  // some other script's `Search`, of another shape
  };

  // What is shown and has no text: pictures that a script draws, and documents of another kind.
  const drawn = () => {
    const found = [];
    for (const element of document.querySelectorAll('canvas,embed,object')) {
      const box = element.getBoundingClientRect();
      if (/^chrome-extension:/.test(element.src || '') || box.width < 60 || box.height < 60 || element.textContent.trim() || !element.checkVisibility()) continue;
      const size = `${Math.round(box.width)}x${Math.round(box.height)}`;
      if (element.nodeName === 'CANVAS') found.push(`a canvas of ${size}`);
      else if (/pdf/i.test(element.type) || /\.pdf$/i.test(element.src || element.data || '')) found.push(`a PDF of ${size} at ${element.src || element.data}`);
    }
    return found.slice(0, 4);
  };

  if (document.body) walk(document.body, false);
  flush(null);
  const kept = sections.filter(section => section.title || section.lines.length);
  return JSON.stringify({
    title: document.title, base: document.baseURI, hidden, veiled, secrets, shown,
    sections: kept.map(({ title, level, anchor, defined, lines }) => ({ title, level, anchor, defined_name: defined, text: lines.join('\n') })),
    search: whole ? search() : null, index: whole ? indexed() : null, drawn: text ? drawn() : [],
    editors: document.querySelectorAll('[contenteditable]:not([contenteditable=false])').length,
  });
}
