// The frame around the views: navigation, the state of the connection, the theme, and the lock.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Problem } from './components/basics';
import { locked } from './lib/api';
import { facts, feed, link, problem, route, theme, unlock } from './store';
import { Live } from './views/live/live';
import { Loops } from './views/loops/loops';
import { Operations } from './views/operations/operations';
import { Playground } from './views/playground/playground';
import { Replay } from './views/replay/replay';
import { Turn } from './views/turn/turn';

const views = [
  { id: 'live', title: 'Live', show: () => <Live /> },
  { id: 'replay', title: 'Replay', show: () => <Replay /> },
  { id: 'playground', title: 'Playground', show: () => <Playground /> },
  { id: 'loops', title: 'Loops and rooms', show: () => <Loops /> },
  { id: 'operations', title: 'Operations', show: () => <Operations /> },
];

const feed_words = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting' };

function ThemeButton() {
  const next = { system: 'light', light: 'dark', dark: 'system' } as const;
  const icons = { system: '◐', light: '☀', dark: '☾' };
  return (
    <button
      type="button"
      class="button quiet"
      aria-label={`Theme: ${theme.value}. Change to ${next[theme.value]}`}
      title={`Theme: ${theme.value}`}
      onClick={() => (theme.value = next[theme.value])}
    >
      <span aria-hidden="true">{icons[theme.value]}</span>
    </button>
  );
}

function Lock() {
  const [given, set_given] = useState('');
  const [fault, set_fault] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    unlock(given).catch((error) => set_fault(error.message));
  };
  return (
    <main class="lock">
      <form onSubmit={submit}>
        <h1>Callgate inspector</h1>
        <p>This gateway has keys. Enter one with <code>admin = true</code>. It stays in the memory of this tab.</p>
        <label for="key">Admin key</label>
        <input id="key" ref={field} type="password" autocomplete="current-password" value={given} onInput={(event) => set_given(event.currentTarget.value)} />
        <Problem text={fault} />
        <Button type="submit" kind="primary">
          Open
        </Button>
      </form>
    </main>
  );
}

export function App() {
  const { view, id } = route.value;
  useEffect(() => {
    const title = view === 'turn' ? id : (views.find((each) => each.id === view)?.title ?? 'Live');
    document.title = `${title} · Callgate`;
    // On a narrow screen the name of the view that is open may be out of sight.
    document.querySelector('header nav :is([aria-current], .inside)')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [view, id, locked.value]);
  if (locked.value) return <Lock />;
  const current = views.find((each) => each.id === view) ?? views[0];
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), document.getElementById('content')?.focus())}>
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={link('live')} aria-label="Callgate inspector, live view">
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
            <rect width="32" height="32" rx="7" fill="var(--accent)" />
            <path d="M7 10h7v4l4 2-4 2v4H7" fill="none" stroke="var(--accent-text)" stroke-width="2.6" stroke-linejoin="round" stroke-linecap="round" />
            <path d="M21 10h4v12h-4" fill="none" stroke="var(--accent-text)" stroke-width="2.6" opacity=".65" stroke-linejoin="round" stroke-linecap="round" />
          </svg>
          <span>callgate</span>
        </a>
        <nav aria-label="Views">
          {views.map((each) => (
            <a key={each.id} href={link(each.id)} aria-current={each === current && view !== 'turn' ? 'page' : undefined} class={view === 'turn' && each.id === 'live' ? 'inside' : ''}>
              {each.title}
            </a>
          ))}
        </nav>
        <span class={`feed ${feed.value}`} role="status">
          {feed_words[feed.value]}
        </span>
        <span class="version">{facts.value?.version}</span>
        <ThemeButton />
      </header>
      <Problem text={problem.value} />
      <main id="content" tabIndex={-1}>
        {view === 'turn' ? <Turn key={id} id={id} /> : current.show()}
      </main>
    </>
  );
}
