// The small parts that every view is made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'think' | 'call';

export function Badge({ tone = 'plain', title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

interface ButtonProps {
  onClick?: () => void;
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  disabled?: boolean;
  pressed?: boolean;
  title?: string;
  type?: 'button' | 'submit';
  children: ComponentChildren;
}

export function Button({ onClick, kind = 'plain', disabled, pressed, title, type = 'button', children }: ButtonProps) {
  return (
    <button type={type} class={`button ${kind}`} onClick={onClick} disabled={disabled} aria-pressed={pressed} title={title}>
      {children}
    </button>
  );
}

export function CopyButton({ text, children = 'Copy' }: { text: () => string; children?: ComponentChildren }) {
  const [done, set_done] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    set_done(true);
    setTimeout(() => set_done(false), 1200);
  };
  return <Button onClick={copy}>{done ? 'Copied' : children}</Button>;
}

interface TabsProps {
  label: string;
  tabs: { id: string; title: string; note?: string | number }[];
  current: string;
  choose: (id: string) => void;
}

// Arrow keys move between tabs, as the pattern of tabs has it.
export function Tabs({ label, tabs, current, choose }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.id === current);
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = (at + step + tabs.length) % tabs.length;
    choose(tabs[next].id);
    (list.current?.children[next] as HTMLElement)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          type="button"
          key={tab.id}
          role="tab"
          id={`tab-${tab.id}`}
          aria-selected={tab.id === current}
          aria-controls={`panel-${tab.id}`}
          tabIndex={tab.id === current ? 0 : -1}
          onClick={() => choose(tab.id)}
        >
          {tab.title}
          {tab.note !== undefined && tab.note !== 0 && <span class="note">{tab.note}</span>}
        </button>
      ))}
    </div>
  );
}

export function Panel({ id, children }: { id: string; children: ComponentChildren }) {
  return (
    <div class="panel" role="tabpanel" id={`panel-${id}`} aria-labelledby={`tab-${id}`} tabIndex={0}>
      {children}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: (string | { value: string; title: string })[];
  set: (value: string) => void;
}

export function Choice({ label, value, options, set }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map((option) => {
          const { value: word, title } = typeof option === 'string' ? { value: option, title: option } : option;
          return (
            <option key={word} value={word}>
              {title}
            </option>
          );
        })}
      </select>
    </div>
  );
}

interface InputProps {
  label: string;
  value: string;
  set: (value: string) => void;
  placeholder?: string;
  hide_label?: boolean;
}

export function Input({ label, value, set, placeholder, hide_label }: InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id} class={hide_label ? 'visually-hidden' : ''}>
        {label}
      </label>
      <input id={id} type="text" value={value} placeholder={placeholder} spellcheck={false} autocomplete="off" onInput={(event) => set(event.currentTarget.value)} />
    </div>
  );
}

export function Area({ label, value, set, rows = 6, placeholder }: InputProps & { rows?: number }) {
  const id = useId();
  return (
    <div class="field grow">
      <label for={id}>{label}</label>
      <textarea id={id} rows={rows} value={value} placeholder={placeholder} spellcheck={false} onInput={(event) => set(event.currentTarget.value)} />
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Problem({ text }: { text: string }) {
  return text ? (
    <p class="problem" role="alert">
      {text}
    </p>
  ) : null;
}

export function Facts({ items }: { items: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {items
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

// Runs `work` now and every `ms` while it is shown; work that is slow delays the next.
export function usePolling(work: () => Promise<void>, ms: number, inputs: unknown[]) {
  useEffect(() => {
    let timer = 0;
    let over = false;
    const run = async () => {
      await work().catch(() => {});
      if (!over) timer = setTimeout(run, ms) as unknown as number;
    };
    void run();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, inputs);
}
