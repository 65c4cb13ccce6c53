import type { BaseLocationHook } from 'wouter'
import { navigate, useHashLocation } from 'wouter/use-hash-location'

type Options = Parameters<typeof navigate>[1]

/** An address without a query has none: wouter would keep that of the page before, and with it its filter. */
function go(to: string, options?: Options): void {
  navigate(to.includes('?') ? to : `${to}?`, options)
}

/** The page in the hash of the address, with its query in front of that. */
export const usePlace: BaseLocationHook = Object.assign(
  (): [string, typeof go] => [useHashLocation()[0], go],
  { hrefs: (href: string) => `#${href}` },
)
