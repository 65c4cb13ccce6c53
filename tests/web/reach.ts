import type { Page } from 'playwright-core'

/** What a page must let the keyboard reach, and what it never did. */
export async function unreached(
  page: Page,
): Promise<{ count: number; missing: string[]; unseen: string[] }> {
  const count = await page.evaluate(() => {
    const can = 'a[href],button,input,select,textarea,summary,[tabindex]'
    const isThere = (one: Element) =>
      one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0
    let marked = 0
    for (const one of document.querySelectorAll<HTMLElement>(can)) {
      // One of a group has its place in the order; arrows lead to the others.
      // The list of tabs hands its focus on to the chosen one.
      if (one.tabIndex < 0 || one.matches(':disabled,[role=tablist]') || !isThere(one)) continue
      const isRadio = one instanceof HTMLInputElement && one.type === 'radio'
      if (isRadio && !one.checked) continue
      one.dataset.reach = String(marked)
      marked += 1
    }
    // What invites a click must be one of those.
    for (const one of document.querySelectorAll<HTMLElement>('body *')) {
      if (getComputedStyle(one).cursor !== 'pointer' || !isThere(one)) continue
      if (one.closest(`${can},label`) || one.querySelector(can)) continue
      one.dataset.reach = 'never'
    }
    ;(document.activeElement as HTMLElement | null)?.blur()
    return marked
  })
  const unseen: string[] = []
  // A field of time is several steps; the page begins anew at the end.
  let [step, steps] = [0, count + 3]
  for (; step < steps; step += 1) {
    await page.keyboard.press('Tab')
    const { isInside, dull } = await page.evaluate(() => {
      const one = document.activeElement
      if (!(one instanceof HTMLElement) || one === document.body)
        return { isInside: false, dull: null }
      if (one.dataset.reach === undefined)
        return { isInside: one.matches('[type=time],[type=date]'), dull: null }
      delete one.dataset.reach
      const isShown = (node: Element) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(node)
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
      }
      const label = one.closest('label')
      const isSeen = isShown(one) || (label !== null && isShown(label))
      return { isInside: false, dull: isSeen ? null : one.outerHTML.slice(0, 160) }
    })
    if (isInside) steps += 1
    if (dull) unseen.push(dull)
  }
  const missing = await page.evaluate(() =>
    [...document.querySelectorAll('[data-reach]')].map((one) => one.outerHTML.slice(0, 160)),
  )
  return { count, missing, unseen }
}
