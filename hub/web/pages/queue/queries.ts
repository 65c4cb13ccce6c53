import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { api, ok, type Schemas } from '../../api/client.ts'

export type QueueItem = Schemas['QueueItem']

export const queueQuery = (project: string | null) =>
  queryOptions({
    queryKey: ['queue', project],
    queryFn: () =>
      ok(
        api.GET('/api/cockpit/queue/list', {
          params: { query: project ? { project } : {} },
        }),
      ),
  })

/** What approving and sending a draft would do now. */
export const prospectQuery = ({ id, project }: { id: string; project: string }) =>
  queryOptions({
    queryKey: ['queue', 'prospect', id],
    queryFn: () =>
      ok(api.GET('/api/cockpit/queue/prospect', { params: { query: { id, project } } })),
  })

const getBatch = (project: string, key: string) =>
  ok(api.GET('/api/cockpit/queue/batch', { params: { query: { key, project } } }))
export type BatchMail = Awaited<ReturnType<typeof getBatch>>['drafts'][number]

export const batchQuery = (project: string, key: string) =>
  queryOptions({ queryKey: ['queue', 'batch', key], queryFn: () => getBatch(project, key) })

/** The actions and improvements that wait, with what they do. */
export const waitingQuery = (project: string) =>
  queryOptions({
    queryKey: ['queue', 'approvals', project],
    queryFn: () =>
      ok(
        api.GET('/api/cockpit/approvals/list', {
          params: { query: { project, status: 'waiting' } },
        }),
      ),
  })

/** Takes what no longer exists off the lists at once: asking for it again would only fail. */
export function forgetItem(queryClient: QueryClient, id: string): void {
  type List = { items?: QueueItem[]; total?: number }
  queryClient.setQueriesData<List>({ queryKey: ['queue'] }, (list) => {
    if (!list?.items) return list
    const items = list.items.filter((item) => item.id !== id)
    const total = (list.total ?? list.items.length) - (list.items.length - items.length)
    return { ...list, items, total }
  })
}

/** Refreshes everything that an approval changes. */
export function refreshQueue(queryClient: QueryClient): Promise<unknown> {
  return Promise.all(
    [
      ['queue'],
      ['drafts'],
      ['draft'],
      ['missions'],
      ['mission'],
      ['approvals'],
      ['today'],
      ['kpi'],
    ].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  )
}
