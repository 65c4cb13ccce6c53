import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { open, type ServedHub, settled, signIn } from './browser.ts'

/** Pictures of pages, to be looked at: into the folder that SHOTS names, else none. */
export async function takeShots(
  browser: Browser,
  hub: ServedHub,
  paths: Record<string, string>,
): Promise<void> {
  const folder = process.env.SHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  for (const theme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      const language = theme === 'dark' ? 'tr' : 'en'
      const opened = await open(browser, hub.origin, { theme, language, isPhone: width < 800 })
      await signIn(hub, opened)
      await opened.page.setViewportSize({ width, height: width < 800 ? 844 : 900 })
      for (const [name, path] of Object.entries(paths)) {
        await opened.page.goto(path)
        await settled(opened.page)
        await opened.page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) })
      }
      await opened.context.close()
    }
  }
}
