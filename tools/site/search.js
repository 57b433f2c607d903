// Search over the index that build.py writes. No page, no network: a plain function, which the tests call as well.
//
// An entry is [address, title, section, page, text, level]; level 9 is a row of a table. Every word of the question must occur
// in an entry. Where it occurs decides the order: the title counts most, then the section and the page, then the text.
(() => {
  const folded = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words_of = (question) => folded(question).split(/[^\p{L}\p{N}_.\-/]+/u).map((word) => word.replace(/^[.\-/]+|[.\-/]+$/g, '')).filter(Boolean);
  const starts_word = (text, at) => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);

  function prepare(index) {
    return index.map(([address, title, section, page, text, level]) => ({
      address, title, section, page, text, level,
      title_folded: folded(title), around_folded: folded(`${section} ${page}`), text_folded: folded(text),
    }));
  }

  function score_word(entry, word) {
    let score = 0;
    const at = entry.title_folded.indexOf(word);
    if (entry.title_folded === word) score += 100;
    else if (at === 0) score += 50;
    else if (at > 0) score += starts_word(entry.title_folded, at) ? 35 : 15;
    if (entry.around_folded.includes(word)) score += 10;
    const inside = entry.text_folded.indexOf(word);
    if (inside >= 0) score += starts_word(entry.text_folded, inside) ? 8 : 3;
    return score;
  }

  function find(entries, question, limit = 30) {
    const words = words_of(question);
    if (words.length === 0) return [];
    const found = [];
    for (const entry of entries) {
      let score = 0;
      for (const word of words) {
        const one = score_word(entry, word);
        if (one === 0) {
          score = 0;
          break;
        }
        score += one;
      }
      if (score === 0) continue;
      if (entry.title_folded === words.join(' ')) score += 60;
      if (entry.level === 1) score += 12;  // a page about it, before places that mention it
      if (/^(adr|changelog|contributing|architecture|performance)\b/.test(entry.address)) score -= 25;  // for those who build it
      found.push({ entry, score });
    }
    found.sort((a, b) => b.score - a.score || a.entry.text.length - b.entry.text.length);
    return found.slice(0, limit).map(({ entry }) => entry);
  }

  // The piece of a text around the first word that occurs in it, as [text, is a word of the question] pairs.
  function excerpt(entry, question, size = 150) {
    const words = words_of(question);
    const places = words.map((word) => entry.text_folded.indexOf(word)).filter((at) => at >= 0);
    // Folding may change lengths; then the beginning is shown.
    const aligned = entry.text_folded.length === entry.text.length;
    const first = aligned && places.length > 0 ? Math.min(...places) : 0;
    let begin = Math.max(0, first - 50);
    const space = entry.text.indexOf(' ', begin);
    if (begin > 0 && space >= 0 && space < first) begin = space + 1;
    const text = entry.text.slice(begin, begin + size);
    return mark((begin > 0 ? '… ' : '') + text + (begin + size < entry.text.length ? ' …' : ''), words);
  }

  function mark(text, words) {
    const lower = text.toLowerCase();
    if (lower.length !== text.length) return [[text, false]];
    const parts = [];
    let at = 0;
    while (at < text.length) {
      let next = -1, size = 0;
      for (const word of words) {
        const place = lower.indexOf(word, at);
        if (place >= 0 && (next < 0 || place < next || (place === next && word.length > size))) [next, size] = [place, word.length];
      }
      if (next < 0) break;
      if (next > at) parts.push([text.slice(at, next), false]);
      parts.push([text.slice(next, next + size), true]);
      at = next + size;
    }
    if (at < text.length) parts.push([text.slice(at), false]);
    return parts;
  }

  globalThis.callgate_search = { prepare, find, excerpt, mark, words_of };
})();
