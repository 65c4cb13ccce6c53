import { queryOptions, useQuery } from '@tanstack/react-query'
import { createQueryClient } from '../../../web/shared/query-client.ts'
import { onLanguage } from '../../../web/ui/language.ts'
import { api, ok, onProblem, type Schemas } from './client.ts'

/** The base path of the interface. */
export const BASE = '/hub'

export const queryClient = createQueryClient({ stale_ms: 5_000 })

// The data contain sentences of the hub: visible data is fetched again, the rest is dropped.
onLanguage(() => {
  queryClient.removeQueries({ type: 'inactive' })
  void queryClient.invalidateQueries()
})

onProblem(({ code }) => {
  // A role that was changed meanwhile.
  if (code === 'forbidden') void queryClient.invalidateQueries({ queryKey: ['me'] })
  if (code === 'read_only_key') void queryClient.invalidateQueries({ queryKey: ['health'] })
})

/** Whether the hub is set up and which database key it uses. No session is needed. */
export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => ok(api.GET('/api/cockpit/health')),
  staleTime: 30_000,
})

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: async () => (await ok(api.GET('/api/cockpit/projects/list'))).projects,
})

/** The project that is open when no address names one. */
export function firstOf(projects: Schemas['Project'][] | undefined) {
  return projects?.find(({ active }) => active) ?? projects?.[0]
}

/** The model in use and what fits this machine; polled during a download. */
export const modelsQuery = queryOptions({
  queryKey: ['settings', 'models'],
  queryFn: () => ok(api.GET('/api/cockpit/settings/models')),
  refetchInterval: ({ state: { data } }) =>
    data?.download?.status === 'processing' || data?.state.state === 'starting' ? 1_000 : 10_000,
})
export type ModelsOverview = Schemas['Models']

export const licenseQuery = queryOptions({
  queryKey: ['license'],
  queryFn: () => ok(api.GET('/api/cockpit/license')),
})

export const mailQuery = queryOptions({
  queryKey: ['settings', 'mail'],
  queryFn: () => ok(api.GET('/api/cockpit/settings/mail')),
})
export type MailView = { mail: Schemas['MailSettings']; state: Schemas['MailState'] }

/** The brand of a project: what its mails and documents carry. */
export const brandQuery = (slug: string) =>
  queryOptions({
    queryKey: ['brand', slug],
    queryFn: () =>
      ok(api.GET('/api/cockpit/projects/brand', { params: { query: { project: slug } } })),
  })

export const lookQuery = queryOptions({
  queryKey: ['look'],
  queryFn: async () => (await ok(api.GET('/api/cockpit/branding'))).branding,
  staleTime: 60_000,
})

/** Who is signed in, and what they may do. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async () => (await ok(api.GET('/api/cockpit/me'))).me,
  staleTime: 30_000,
})

/** Why this page can only be read: for want of the service key, or of a role; undefined if it is not so. */
export function useReadOnly(): 'key' | 'role' | undefined {
  const isKey = useQuery(healthQuery).data?.key_role === 'hub_ro'
  const isRole = useQuery(meQuery).data?.role === 'reader'
  return isKey ? 'key' : isRole ? 'role' : undefined
}

/** Whether nothing can be changed, so that pages can say so in advance. */
export function useIsReadOnly(): boolean {
  return useReadOnly() !== undefined
}

/** Whether an admin is signed in; undefined until that is known. */
export function useIsAdmin(): boolean | undefined {
  const { data } = useQuery(meQuery)
  return data && data.role === 'admin'
}
