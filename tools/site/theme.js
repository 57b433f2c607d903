// Runs before the page is drawn, so that it never flashes in the wrong colours.
(() => {
  try {
    const chosen = localStorage.getItem('callgate-theme');
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  } catch {
    // No storage: the system's theme it is.
  }
})();
