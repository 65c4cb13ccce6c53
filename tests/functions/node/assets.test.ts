import { expect, test } from 'vitest'
import { asset, FILES } from '../../../functions/node/assets.ts'

test.each([...FILES])('%s is served with its type, and kept for a day', async (name, { type }) => {
  const answer = await asset(name)
  expect(answer?.headers.get('Content-Type')).toBe(type)
  expect(answer?.headers.get('Cache-Control')).toBe('public, max-age=86400')
  expect(await answer?.text()).toContain('swagger-ui')
})

test('the page of the documentation has its style and its script', () => {
  const types = [...FILES].map(([name, { type }]) => `${name}: ${type}`)
  expect(types).toEqual([
    'docs/swagger-ui.css: text/css; charset=utf-8',
    'docs/swagger-ui-bundle.js: text/javascript; charset=utf-8',
  ])
})

test.each(['docs/swagger-ui.js', '', 'package.json', '../package.json'])(
  'there is no file %j',
  async (name) => {
    expect(await asset(name)).toBeUndefined()
  },
)
