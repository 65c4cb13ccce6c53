import { expect, test } from 'vitest'
import { LINK_WORDS } from '../../../../functions/channels/message/link-words.ts'
import { about, address, link, paragraphsOf, service, titleOf, useService } from './link-scene.ts'

useService()

test.each([
  ['confirm-address', false],
  ['unsubscribe', true],
] as const)(
  'the pages of a link to %s say one thing each, in the look of the service',
  async (purpose, is_confirmed) => {
    const path = await link(purpose, about(await address({ is_confirmed })))
    const { title, text, button, over, done, already } = LINK_WORDS.en.pages[purpose]
    const page = async (method: string) => {
      const answer = await service.request(method, path)
      // Nothing stands beside the title, the paragraphs and the button.
      const [, main = '?'] = /<main>([\s\S]*)<\/main>/.exec(answer.text) ?? []
      const beside = main.replace(/<h1>.*<\/h1>|<p>.*?<\/p>|<\/?form[^>]*>/g, '')
      expect(beside.replace(/<svg.*<\/svg>/, '').trim()).toBe('')
      return [titleOf(answer.text), ...paragraphsOf(answer.text)]
    }
    expect(await page('GET')).toEqual([title, text, button])
    expect(await page('POST')).toEqual([over, done])
    expect(await page('POST')).toEqual([over, already])
    expect(await page('GET')).toEqual([over, already])
    const style = await service.request('GET', '/links/page.css')
    expect([style.status, style.headers.get('Content-Type')]).toEqual([200, 'text/css'])
  },
)
