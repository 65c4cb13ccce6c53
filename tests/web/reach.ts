import type { Page } from 'playwright-core'

/** What is noted at each Tab: what did not show that it had the focus, and steps within a field. */
type Walk = { unseen: string[]; inside: number }

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
    // Asking from outside after each key would take as long as all the keys.
    const walk: Walk = { unseen: [], inside: 0 }
    Object.assign(window, { walk })
    const isShown = (node: Element) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(node)
      return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
    }
    const look = () => {
      const one = document.activeElement
      if (!(one instanceof HTMLElement) || one === document.body) return
      if (one.dataset.reach === undefined) {
        if (one.matches('[type=time],[type=date]')) walk.inside += 1
        return
      }
      delete one.dataset.reach
      const label = one.closest('label')
      if (isShown(one) || (label !== null && isShown(label))) return
      walk.unseen.push(one.outerHTML.slice(0, 160))
    }
    window.onkeyup = look
    return marked
  })
  const walked = () => page.evaluate((): Walk => Reflect.get(window, 'walk'))
  // A field of time is several steps; the page begins anew at the end.
  for (let [step, steps] = [0, count + 3]; step < steps; ) {
    for (; step < steps; step += 1) await page.keyboard.press('Tab')
    steps = count + 3 + (await walked()).inside
  }
  const { unseen } = await walked()
  const missing = await page.evaluate(() =>
    [...document.querySelectorAll('[data-reach]')].map((one) => one.outerHTML.slice(0, 160)),
  )
  return { count, missing, unseen }
}
