import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Schemas } from '../../api/client.ts'

export type OwnField = Schemas['LeadField']

export const fieldsQuery = (project: string) =>
  queryOptions({
    queryKey: ['fields', project],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/leads/fields', { params: { query: { project } } }))).fields,
  })

export const dealSettingsQuery = (project: string) =>
  queryOptions({
    queryKey: ['deals', project, 'settings'],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/deals/settings', { params: { query: { project } } })))
        .settings,
  })

export const dealSumsQuery = (project: string) =>
  queryOptions({
    queryKey: ['deals', project, 'sums'],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/deals/sums', { params: { query: { project } } }))).stages,
  })
