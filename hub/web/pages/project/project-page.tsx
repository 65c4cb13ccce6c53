import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { Input } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { projectsQuery, useIsAdmin, useIsReadOnly } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { CountedTextarea } from '../../counted.tsx'
import { useProject } from '../../project.ts'
import { Page } from '../../shell/page.tsx'
import { LIMITS, WRITING, websiteFrom } from '../../shell/project-fields.ts'
import { brandText } from './brand.text.ts'
import { BrandOfProject } from './brand.tsx'
import { DealSettings } from './deal-settings.tsx'
import { OwnFieldsSettings } from './own-fields.tsx'
import { projectText } from './project.text.ts'
import { ProjectRules } from './rules.tsx'

type Detailed = Schemas['Project'] & { description: string } & Record<
    (typeof WRITING)[number],
    string
  >

/** The description of a project for the agents, its brand, and the way to delete it. */
export function ProjectPage() {
  const text = useText(projectText)
  const brand = useText(brandText)
  const project = useProject()
  const base = `/p/${project.slug}/project`
  const current = useLocation()[0].startsWith(`${base}/brand`) ? 'brand' : 'about'
  // By its slug: in another tab another project may be the active one.
  const query = useQuery({
    queryKey: ['projects', 'one', project.slug],
    queryFn: async () => {
      const params = { query: { project: project.slug } }
      return (await ok(api.GET('/api/cockpit/projects/active', { params }))).project
    },
  })
  return (
    <Page
      title={text.title}
      detail={project.slug}
      bar={
        <nav aria-label={brand.tabs_label} className="-mb-px flex gap-4">
          {(['about', 'brand'] as const).map((tab) => (
            <Link
              key={tab}
              href={tab === 'brand' ? `${base}/brand` : base}
              aria-current={tab === current ? 'page' : undefined}
              className={cn(
                'border-b-2 px-1 pb-2 font-medium',
                tab === current
                  ? 'border-fg text-fg'
                  : 'border-transparent text-muted hover:text-fg',
              )}
            >
              {brand.tabs[tab]}
            </Link>
          ))}
        </nav>
      }
    >
      <div
        className={cn('w-full px-4 py-6 md:px-6', current === 'brand' ? 'max-w-7xl' : 'max-w-4xl')}
      >
        {current === 'brand' ? (
          <BrandOfProject key={project.slug} />
        ) : query.isPending ? (
          <SkeletonRows />
        ) : hasFailed(query) ? (
          <FailedQuery error={query.error} onRetry={() => query.refetch()} />
        ) : (
          <div className="flex flex-col gap-10">
            <About key={query.data.slug} project={query.data} />
            <DealSettings />
            <OwnFieldsSettings />
            <ProjectRules />
            <DeleteProject />
          </div>
        )}
      </div>
    </Page>
  )
}

const LONG = ['description', 'icp'] as const

function About({ project }: { project: Detailed }) {
  const text = useText(projectText)
  const words = useText(common)
  const isReadOnly = useIsReadOnly() || project.read_only
  const queryClient = useQueryClient()
  return (
    <ApiForm
      onSubmit={async ({ website, industry, icp, ...texts }) => {
        await ok(
          api.POST('/api/cockpit/projects/update', {
            body: {
              slug: project.slug,
              ...texts,
              website: websiteFrom(website),
              industry: industry || null,
              icp: icp || null,
            },
          }),
        )
        await queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey })
        toast(text.saved)
      }}
    >
      <p className="mb-5 max-w-2xl text-muted text-pretty">{text.about}</p>
      <fieldset disabled={isReadOnly} className="grid gap-4 md:grid-cols-2">
        <FormField name="name" label={text.fields.name} className="md:col-span-2">
          <Input defaultValue={project.name} maxLength={120} />
        </FormField>
        <FormField name="website" label={text.fields.website} isOptional>
          <Input inputMode="url" defaultValue={project.website ?? ''} />
        </FormField>
        <FormField name="industry" label={text.fields.industry} isOptional>
          <Input defaultValue={project.industry ?? ''} maxLength={200} />
        </FormField>
        {LONG.map((field) => (
          <FormField
            key={field}
            name={field}
            label={text.fields[field]}
            hint={text.hints[field]}
            className="md:col-span-2"
          >
            <CountedTextarea
              rows={field === 'description' ? 2 : 3}
              defaultValue={project[field] ?? ''}
              limit={LIMITS[field]}
            />
          </FormField>
        ))}
        <div id="writing" className="scroll-mt-20 border-t border-line pt-5 md:col-span-2">
          <h2>{text.writing.title}</h2>
          <p className="mt-0.5 max-w-2xl text-muted text-pretty">{text.writing.text}</p>
        </div>
        {WRITING.map((field) => (
          <FormField
            key={field}
            name={field}
            label={words.writing.fields[field]}
            hint={words.writing.hints[field]}
            className="md:col-span-2"
          >
            <CountedTextarea rows={3} defaultValue={project[field]} limit={LIMITS[field]} />
          </FormField>
        ))}
      </fieldset>
      <FormError className="mt-4" />
      <Actions>
        <Submit disabled={isReadOnly}>{words.save}</Submit>
      </Actions>
    </ApiForm>
  )
}

function DeleteProject() {
  const { delete: text } = useText(projectText)
  const words = useText(common)
  const { name, slug } = useProject()
  const isReadOnly = useIsReadOnly()
  const isAdmin = useIsAdmin()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Section title={text.title} text={text.text}>
      {isAdmin === false ? (
        <p className="text-sm text-muted">{words.only_admin.title}.</p>
      ) : (
        <Button disabled={isReadOnly} onClick={() => setOpen(true)}>
          {text.open}
        </Button>
      )}
      <Dialog isOpen={isOpen} onClose={close} title={text.title} description={text.text}>
        <ApiForm
          onSubmit={async ({ name: typed = '' }) => {
            const { archive } = await ok(
              api.POST('/api/cockpit/projects/delete', { body: { slug, name: typed } }),
            )
            toast(text.done(archive))
            close()
            navigate('/')
            await queryClient.invalidateQueries()
          }}
        >
          <FormField name="name" label={text.confirm(name)}>
            <Input spellCheck={false} />
          </FormField>
          <FormError className="mt-4" />
          <Actions>
            <Button onClick={close}>{words.cancel}</Button>
            <Submit variant="danger">{text.submit}</Submit>
          </Actions>
        </ApiForm>
      </Dialog>
    </Section>
  )
}

function Section(props: { title: string; text: string; children: React.ReactNode }) {
  return (
    <section className="flex flex-col gap-3 border-t border-line pt-6 md:flex-row md:items-center md:gap-8">
      <div className="min-w-0 flex-1">
        <h2>{props.title}</h2>
        <p className="mt-0.5 text-muted text-pretty">{props.text}</p>
      </div>
      {props.children}
    </section>
  )
}
