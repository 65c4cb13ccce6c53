// Runs before the first paint, so that the other theme does not flash; therefore it is a separate
// file.
{
  const chosen = localStorage.getItem('watchpost.theme')
  const isLight = matchMedia('(prefers-color-scheme: light)').matches
  document.documentElement.dataset.theme = chosen ?? (isLight ? 'light' : 'dark')
}
