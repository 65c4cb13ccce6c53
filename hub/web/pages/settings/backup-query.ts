import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../../api/client.ts'

const WATCH_MS = 700
/** The backups and what runs of them, asked for again and again while one does. */
export const backupsQuery = queryOptions({
  queryKey: ['backups'],
  queryFn: () => ok(api.GET('/api/cockpit/backups')),
  refetchInterval: ({ state: { data } }) => (data?.job?.status === 'running' ? WATCH_MS : false),
})
