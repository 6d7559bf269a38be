// Gives each editor of rich text the role it has for a person, so that it can be addressed, and answers how many elements there are.
() => {
  for (const editor of document.querySelectorAll('[contenteditable]:not([contenteditable=false]):not([role])'))
    if (editor.isContentEditable && !(editor.parentElement && editor.parentElement.isContentEditable)) editor.setAttribute('role', 'textbox');
  return document.getElementsByTagName('*').length;
}
