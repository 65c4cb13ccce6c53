/** How the hub looks without a customer's branding. */
export const OWN_LOOK = {
  name: 'Watchpost Hub',
  logo: null,
  colors: { primary: '#1f6fb2', accent: '#b45309' },
}
