// Bytes of a stream as text that a person can read. Whatever they are, they are shown as text and never become markup.

export function from_base64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export function to_base64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

const decoder = new TextDecoder('utf-8');
export const text_of = (bytes: Uint8Array) => decoder.decode(bytes);
export const bytes_of = (text: string) => new TextEncoder().encode(text);

// Controls, invisible marks and those that turn the direction of writing are shown as symbols: what is on the screen is what
// is in the bytes.
const invisible = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function visible(text: string): string {
  return text.replace(invisible, (char) => {
    const code = char.charCodeAt(0);
    if (code === 10) return '⏎';
    if (code === 9) return '⇥';
    if (code === 13) return '␍';
    if (code < 32) return String.fromCharCode(0x2400 + code);
    return `⟨${code.toString(16).padStart(4, '0')}⟩`;
  });
}

// The same for text of several lines, whose line ends are kept.
export const visible_lines = (text: string) => text.split('\n').map(visible).join('\n');

export interface Line {
  begin: number; // byte of the stream
  end: number;
  text: string;
}

// The lines in bytes[begin, end) that say something. Very long ones are cut into several.
export function lines_of(bytes: Uint8Array, begin: number, end: number, keep_empty = false, longest = 4096): Line[] {
  const lines: Line[] = [];
  let at = begin;
  while (at < end) {
    let stop = bytes.indexOf(10, at);
    if (stop < 0 || stop >= end) stop = end;
    const next = Math.min(stop < end ? stop + 1 : end, at + longest);
    const shown = Math.min(stop, next);
    if (keep_empty || shown > at) lines.push({ begin: at, end: next, text: text_of(bytes.subarray(at, shown)) });
    at = next;
  }
  return lines;
}

export function bytes_text(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(count < 10240 ? 1 : 0)} KiB`;
  return `${(count / 1024 / 1024).toFixed(1)} MiB`;
}

export function download(name: string, content: BlobPart, type = 'application/octet-stream') {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
