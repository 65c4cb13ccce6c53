import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../api/client.ts'

/** The key figures of a project. */
export const kpiQuery = (slug: string) =>
  queryOptions({
    queryKey: ['kpi', slug],
    queryFn: () => ok(api.GET('/api/cockpit/projects/kpi/{slug}', { params: { path: { slug } } })),
  })
