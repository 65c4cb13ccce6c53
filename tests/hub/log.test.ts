import { expect, onTestFinished, test, vi } from 'vitest'
import { log } from '../../hub/log.ts'

test('each event is one line of JSON with its time', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  log({ msg: 'request', path: 'a\nb' })
  const [[line] = []] = write.mock.calls
  write.mockRestore()
  expect(line).toMatch(/^\{.*\}\n$/)
  expect(JSON.parse(String(line))).toEqual({
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    msg: 'request',
    path: 'a\nb',
  })
})
