// What the pages do: search, theme, menu, copying code, and the heading that is being read. Everything else works without scripts.
const top_path = document.body.dataset.top;
const { prepare, find, excerpt, mark, words_of } = globalThis.callgate_search;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
const marked = (parts) => parts.map(([text, is_word]) => (is_word ? element('mark', {}, text) : text));

// The index is a script, since file:// pages may not fetch. It is loaded when somebody first searches.
let entries;
let loading;
function load_index() {
  loading ??= new Promise((resolve, reject) => {
    const script = element('script', { src: `${top_path}search-index.js` });
    script.onload = () => resolve((entries = prepare(window.callgate_search_index)));
    script.onerror = () => reject(new Error('search-index.js is missing'));
    document.head.append(script);
  });
  return loading;
}

function set_up_search() {
  const dialog = document.querySelector('dialog.search');
  const input = dialog.querySelector('input');
  const list = dialog.querySelector('#found');
  const hint = dialog.querySelector('.hint');
  const opener = document.querySelector('.search-open');
  let chosen = -1;

  function choose(index) {
    const options = [...list.children];
    options[chosen]?.setAttribute('aria-selected', 'false');
    chosen = options.length === 0 ? -1 : (index + options.length) % options.length;
    if (chosen < 0) {
      input.removeAttribute('aria-activedescendant');
      return;
    }
    options[chosen].setAttribute('aria-selected', 'true');
    options[chosen].scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', options[chosen].id);
  }

  function option(entry, index) {
    const words = words_of(input.value);
    const path = [entry.page, entry.section].filter((part) => part && part !== entry.title).join(' › ');
    const title = element('span', { className: entry.level === 9 ? 'title code-title' : 'title' }, ...marked(mark(entry.title, words)));
    const link = element('a', { href: top_path + entry.address, tabIndex: -1 }, title, element('span', { className: 'path' }, path),
      element('span', { className: 'excerpt' }, ...marked(excerpt(entry, input.value))));
    const item = element('li', { id: `found-${index}` }, link);
    item.setAttribute('role', 'option');
    item.setAttribute('aria-selected', 'false');
    return item;
  }

  async function show() {
    try {
      await load_index();
    } catch (error) {
      hint.textContent = `Search does not work here: ${error.message}.`;
      return;
    }
    const results = find(entries, input.value);
    list.replaceChildren(...results.map(option));
    chosen = -1;
    choose(0);
    if (words_of(input.value).length === 0) hint.textContent = 'Every key, header, command, dialect and metric can be found by its name.';
    else if (results.length === 0) hint.textContent = `Nothing has all of these words: ${words_of(input.value).join(' ')}`;
    else hint.textContent = `${results.length === 30 ? '30 best' : results.length} results`;
  }

  function open() {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    void show();
  }

  opener.hidden = false;
  opener.addEventListener('click', open);
  dialog.querySelector('.close').addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  list.addEventListener('click', (event) => {
    if (event.target.closest('a')) dialog.close();
  });
  input.addEventListener('input', show);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else if (event.key === 'ArrowUp') choose(chosen - 1);
    else if (event.key === 'Enter') list.children[chosen]?.querySelector('a').click();
    else if (event.key === 'Escape') dialog.close();  // a search field would only be cleared by the first one
    else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, textarea, select');
    const wanted = (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey));
    if (!wanted) return;
    event.preventDefault();
    open();
  });
}

function set_up_theme() {
  const button = document.querySelector('.theme');
  const root = document.documentElement;
  const choices = ['system', 'light', 'dark'];
  const now = () => root.dataset.theme ?? 'system';
  const label = () => {
    const next = choices[(choices.indexOf(now()) + 1) % choices.length];
    button.title = `Theme: ${now()}. Change to ${next}.`;
    button.setAttribute('aria-label', button.title);
  };
  button.hidden = false;
  label();
  button.addEventListener('click', () => {
    const next = choices[(choices.indexOf(now()) + 1) % choices.length];
    if (next === 'system') delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem('callgate-theme', next);
    } catch {
      // It holds for this page then.
    }
    label();
  });
}

function set_up_menu() {
  const menu = document.querySelector('.menu');
  const sidebar = document.querySelector('#sidebar');
  const root = document.documentElement;
  root.classList.add('scripted');
  menu.setAttribute('role', 'button');
  const set = (open) => {
    root.classList.toggle('menu-open', open);
    menu.setAttribute('aria-expanded', String(open));
    if (open) sidebar.querySelector('[aria-current]')?.focus();
  };
  set(false);
  menu.addEventListener('click', (event) => {
    event.preventDefault();
    set(!root.classList.contains('menu-open'));
  });
  menu.addEventListener('keydown', (event) => {
    if (event.key === ' ') {
      event.preventDefault();
      menu.click();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && root.classList.contains('menu-open')) {
      set(false);
      menu.focus();
    }
  });
  document.querySelector('.frame').addEventListener('click', (event) => {
    if (root.classList.contains('menu-open') && !sidebar.contains(event.target)) set(false);
  });
  // The page that is read stays in sight in a long list.
  const current = sidebar.querySelector('[aria-current]');
  if (current && current.offsetTop > sidebar.clientHeight - 80) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2;
}

function set_up_copying() {
  for (const block of document.querySelectorAll('article .code')) {
    const button = element('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      const text = block.querySelector('code').textContent;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        getSelection().selectAllChildren(block.querySelector('code'));
        document.execCommand('copy');
      }
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
    block.append(button);
  }
}

function set_up_contents() {
  const links = [...document.querySelectorAll('.contents a')];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (links.length === 0) return;
  let waiting = false;
  const update = () => {
    waiting = false;
    let at = headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top < 100);
    if (innerHeight + scrollY >= document.documentElement.scrollHeight - 2) at = Math.max(at, headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top < innerHeight));
    links.forEach((link, index) => (index === at ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current')));
  };
  addEventListener('scroll', () => {
    if (!waiting) requestAnimationFrame(update);
    waiting = true;
  }, { passive: true });
  update();
}

set_up_search();
set_up_theme();
set_up_menu();
set_up_copying();
set_up_contents();
