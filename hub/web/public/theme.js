// Before the first paint, so that no other theme flashes: that is why it is a file of its own.
{
  const chosen = localStorage.getItem('hub.theme')
  const isLight = matchMedia('(prefers-color-scheme: light)').matches
  document.documentElement.dataset.theme = chosen ?? (isLight ? 'light' : 'dark')
}
