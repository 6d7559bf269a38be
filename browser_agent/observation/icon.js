// What a page has instead of words for a control: the file of its picture, else the names of its classes, its id, or which shape it draws; and the colour it is filled with.
element => {
  const parts = [element, ...element.querySelectorAll('*')].slice(0, 12);
  const stem = url => decodeURIComponent((url || '').split(/[?#]/)[0].split('/').pop().replace(/\.\w+$/, ''));
  const image = style => [style.content, style.backgroundImage].map(value => (value.match(/^url\("(?!data:)([^"]+)"\)/) || ['', ''])[1]).find(Boolean) || '';
  const picture = part => (part.getAttribute('href') || part.getAttribute('xlink:href') || '').split('#')[part.nodeName === 'use' ? 1 : 9]
    || (/^data:/.test(part.getAttribute('src')) ? '' : stem(part.getAttribute('src'))) || stem(image(getComputedStyle(part)));
  const called = part => part.ownerSVGElement && part !== element ? '' : part.getAttribute('class') || part.id;
  const look = getComputedStyle(element), drawn = element.namespaceURI.endsWith('/svg');
  const colour = (drawn ? look.fill : look.backgroundColor).match(/\d+/g) || [];
  const shade = element.nodeName !== 'BUTTON' && colour.length === 3 ? '#' + colour.map(part => (+part).toString(16).padStart(2, '0')).join('') : '';
  const words = parts.map(picture).find(Boolean) || parts.reverse().map(called).find(Boolean) || (drawn ? element.nodeName : '');
  return words || shade ? `${words} ${shade}` : '';
}
