"use strict";
// Before the first paint: the reader's own choice of light or dark, where one was made.
{
  let theme = null;
  try { theme = localStorage.getItem("argus-theme"); } catch { /* storage may be forbidden */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
