// A list of many rows, of which only those in sight are in the page. Heights are known beforehand, so that nothing is measured.
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

interface VirtualProps {
  count: number;
  height: (index: number) => number;
  // Changes whenever heights do.
  version: unknown;
  // `slot` is the key of the row: one that comes into sight takes over the elements of one that left.
  row: (index: number, slot: number) => VNode;
  label: string;
  role: 'grid' | 'listbox';
  selected: number; // -1: none
  select: (index: number) => void;
  open?: (index: number) => void;
  id: string; // row i has the id `${id}-${i}`
  follow?: boolean; // stay at the end as rows are added
  head?: ComponentChildren;
  columns?: number;
}

const beyond = 6; // rows above and below

export function Virtual(props: VirtualProps) {
  const { count, height, version, row, label, role, selected, select, open, id, follow, head, columns } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, set_view] = useState({ top: 0, height: 800 });
  const last_count = useRef(0);
  const slots = useRef(1); // as many as were ever in sight

  // Where each row begins; the last entry is the end.
  const begins = useMemo(() => {
    const list = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) list[i + 1] = list[i] + height(i);
    return list;
  }, [count, version]);

  const find = (y: number) => {
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (begins[middle + 1] <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  useLayoutEffect(() => {
    const element = box.current!;
    const see = () => set_view({ top: element.scrollTop, height: element.clientHeight });
    see();
    element.addEventListener('scroll', see, { passive: true });
    const observer = new ResizeObserver(see);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', see);
      observer.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    const element = box.current!;
    const grown = count > last_count.current;
    last_count.current = count;
    if (follow && grown) element.scrollTop = element.scrollHeight;
  }, [count, follow]);

  const reveal = (index: number) => {
    const element = box.current!;
    const header = (element.firstElementChild as HTMLElement | null)?.dataset.head ? (element.firstElementChild as HTMLElement).offsetHeight : 0;
    const top = begins[index];
    const bottom = begins[index + 1];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight - header) element.scrollTop = bottom - element.clientHeight + header;
  };
  useLayoutEffect(() => {
    if (selected >= 0 && selected < count) reveal(selected);
  }, [selected, view.height]);

  const on_key = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(view.height / 40));
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count };
    if (event.key in moves && count > 0) {
      event.preventDefault();
      select(Math.min(count - 1, Math.max(0, (selected < 0 && moves[event.key] > 0 ? -1 : selected) + moves[event.key])));
    } else if (event.key === 'Enter' && selected >= 0 && open) {
      event.preventDefault();
      open(selected);
    }
  };

  const first = Math.max(0, find(view.top) - beyond);
  const last = Math.min(count, find(view.top + view.height) + beyond);
  const rows: VNode[] = [];
  slots.current = Math.max(slots.current, last - first);
  for (let i = first; i < last; i++) rows.push(row(i, i % slots.current));
  const active = selected >= first && selected < last ? `${id}-${selected}` : undefined;
  return (
    <div
      class="virtual"
      ref={box}
      role={role}
      aria-label={label}
      aria-rowcount={role === 'grid' ? count + (head ? 1 : 0) : undefined}
      aria-colcount={columns}
      aria-activedescendant={active}
      tabIndex={0}
      onKeyDown={on_key}
    >
      {head}
      <div role={role === 'grid' ? 'rowgroup' : 'presentation'} class="virtual-all" style={{ height: `${begins[count]}px` }}>
        <div role="presentation" class="virtual-seen" style={{ transform: `translateY(${begins[first]}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
