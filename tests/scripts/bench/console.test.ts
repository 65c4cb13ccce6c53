import { expect, test } from 'vitest'
import { tasksIn } from '../../../scripts/bench/console.ts'

const ORIGIN = 'http://127.0.0.1:1'
const on = (pid: number, tid = 1) => ({
  of: (name: string, from_ms: number, ms: number) => ({
    ...{ name, ph: 'X', pid, tid, ts: from_ms * 1000, dur: ms * 1000 },
  }),
  main: { name: 'thread_name', ph: 'M', pid, tid, ts: 0, args: { name: 'CrRendererMain' } },
  asks: (url: string) => ({
    ...{ name: 'ResourceSendRequest', ph: 'I', pid, tid, ts: 0, args: { data: { url } } },
  }),
})

test('of a long task what it waits for drawing is told apart; waits within waits count once', () => {
  const page = on(1)
  const events = [
    page.main,
    page.asks(`${ORIGIN}/app.js`),
    page.of('ThreadControllerImpl::RunTask', 100, 300),
    page.of('CommandBufferHelper::Finish', 150, 100),
    page.of('CommandBufferProxyImpl::WaitForGetOffset', 160, 80),
    page.of('GpuChannelHost::CreateViewCommandBuffer', 300, 50),
    page.of('FunctionCall', 100, 290),
    page.of('CommandBufferHelper::Finish', 450, 100),
    page.of('RunTask', 500, 49),
    page.of('RunTask', 600, 50),
  ]
  expect(tasksIn(events, ORIGIN)).toEqual([
    { whole: 300, waiting: 150 },
    { whole: 50, waiting: 0 },
  ])
})

test('other threads and the pages of the browser itself do not count', () => {
  const [page, worker, own] = [on(1), on(1, 2), on(2)]
  const events = [
    page.main,
    page.asks(`${ORIGIN}/`),
    own.main,
    own.asks('chrome://newtab/app.js'),
    worker.of('RunTask', 0, 400),
    own.of('RunTask', 0, 500),
    page.of('RunTask', 0, 100),
    worker.of('CommandBufferHelper::Finish', 0, 90),
  ]
  expect(tasksIn(events, ORIGIN)).toEqual([{ whole: 100, waiting: 0 }])
})
