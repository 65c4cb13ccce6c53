import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../../../api/client.ts'

const WATCH_MS = 700
/** The backups and the running job; polled while one runs. */
export const backupsQuery = queryOptions({
  queryKey: ['backups'],
  queryFn: () => ok(api.GET('/api/cockpit/backups')),
  refetchInterval: ({ state: { data } }) => (data?.job?.status === 'running' ? WATCH_MS : false),
})
