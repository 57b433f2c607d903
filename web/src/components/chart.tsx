// Bars over time with an axis, and ranked bars for things that have names.
import { visible } from '../lib/bytes';

export interface Slot {
  name: string; // of the tool tip, and read aloud
  short: string; // below the bar
  value: number;
  high?: number; // a second bar behind the first, at least as high
}

interface ChartProps {
  title: string;
  note: string; // beside the title: a total, a maximum
  slots: Slot[];
  format: (value: number) => string;
  bad?: boolean;
}

// The end of an axis: the least round number that is not below `value` and whose half is round as well.
export function round_up(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= value)!;
}

const said = (slots: Slot[], format: ChartProps['format']) =>
  slots
    .filter((slot) => slot.value > 0)
    .slice(0, 24)
    .map((slot) => `${slot.name} ${format(slot.value)}${slot.high === undefined ? '' : `, 95 % within ${format(slot.high)}`}`)
    .join('; ');

// At most six names fit below the bars.
const named = (index: number, all: number) => all <= 6 || (index % Math.ceil(all / 6) === 0 && index <= all - Math.ceil(all / 8));

export function Columns({ title, note, slots, format, bad }: ChartProps) {
  const top = round_up(Math.max(...slots.map((slot) => slot.high ?? slot.value)) || 1);
  const share = (value: number) => `${(100 * value) / top}%`;
  return (
    <figure class="chart" role="img" aria-label={`${title}: ${note}; ${said(slots, format)}`}>
      <figcaption>
        {title} <strong>{note}</strong>
      </figcaption>
      <div class="plot" aria-hidden="true">
        <div class="axis-y">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{value === 0.5 ? '' : format(value)}</span>
          ))}
        </div>
        <div class="bars">
          {slots.map((slot) => (
            <span key={slot.name} class="bar-slot" title={`${visible(slot.name)}: ${format(slot.value)}${slot.high === undefined ? '' : `, 95 % within ${format(slot.high)}`}`}>
              {slot.high !== undefined && <span class="bar-high" style={{ height: share(slot.high) }} />}
              {slot.value > 0 && <span class={`bar-fill ${bad ? 'bad' : ''}`} style={{ height: share(slot.value) }} />}
            </span>
          ))}
        </div>
        <div class="axis-x">
          {slots.map((slot, i) => (
            <span key={slot.name}>{named(i, slots.length) && <span>{visible(slot.short)}</span>}</span>
          ))}
        </div>
      </div>
    </figure>
  );
}

const most = 8; // rows of a ranking

export function Ranking({ title, note, slots, format, bad }: ChartProps) {
  const ranked = slots.filter((slot) => slot.value > 0).sort((a, b) => (b.high ?? b.value) - (a.high ?? a.value));
  const top = Math.max(1e-9, ...ranked.map((slot) => slot.high ?? slot.value));
  return (
    <figure class="chart" role="img" aria-label={`${title}: ${note}; ${said(ranked, format)}`}>
      <figcaption>
        {title} <strong>{note}</strong>
      </figcaption>
      <ol class="ranking" aria-hidden="true">
        {ranked.slice(0, most).map((slot) => (
          <li key={slot.name} title={visible(slot.name)}>
            <span class="rank-name">{visible(slot.name)}</span>
            <span class="rank-track">
              {slot.high !== undefined && <span class="bar-high" style={{ width: `${(100 * slot.high) / top}%` }} />}
              <span class={`bar-fill ${bad ? 'bad' : ''}`} style={{ width: `${(100 * slot.value) / top}%` }} />
            </span>
            <span class="rank-value">{format(slot.high ?? slot.value)}</span>
          </li>
        ))}
        {ranked.length === 0 && <li class="faint">none</li>}
        {ranked.length > most && <li class="faint">and {ranked.length - most} more, in the table</li>}
      </ol>
    </figure>
  );
}
