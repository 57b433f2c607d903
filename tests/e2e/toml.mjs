// Writes a configuration: plain values first, then [sections], then [[rows]] of arrays of objects.

function toml_value(value) {
  if (Array.isArray(value)) return `[${value.map(toml_value).join(', ')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).map(
      ([key, v]) => `${JSON.stringify(key)} = ${toml_value(v)}`,
    );
    return `{ ${members.join(', ')} }`;
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

function toml_rows(object) {
  return Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} = ${toml_value(value)}\n`)
    .join('');
}

const is_section = (value) => typeof value === 'object' && !Array.isArray(value);
const is_rows = (value) => Array.isArray(value) && value.length > 0 && is_section(value[0]);

export function to_toml(config) {
  const entries = Object.entries(config).filter(([, value]) => value !== undefined);
  const plain = Object.fromEntries(entries.filter(([, v]) => !is_section(v) && !is_rows(v)));
  let text = toml_rows(plain);
  for (const [name, value] of entries) {
    if (is_section(value)) text += `\n[${name}]\n${toml_rows(value)}`;
    if (is_rows(value)) for (const row of value) text += `\n[[${name}]]\n${toml_rows(row)}`;
  }
  return text;
}
