import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ApiForm } from '../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../web/ui/button.tsx'
import { Input } from '../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../web/ui/form.tsx'
import { useText } from '../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../web/ui/layer.tsx'
import { toast } from '../../../web/ui/toast.tsx'
import { api, ok, ProblemError } from '../api/client.ts'
import { projectsQuery, useIsAdmin } from '../api/queries.ts'
import { common } from '../common.text.ts'
import { CountedTextarea } from '../counted.tsx'
import { firstPage } from '../pages.tsx'
import { LIMITS, slugFrom, WRITING, websiteFrom } from './project-fields.ts'
import { shellText } from './shell.text.ts'

/** The sidebar's dialog that creates a project. */
export function CreateProject({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const text = useText(shellText).project_form
  const words = useText(common)
  const [, navigate] = useLocation()
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={text.title}
      description={text.description}
      size="md"
    >
      <ProjectForm
        onCreated={(slug) => {
          onClose()
          navigate(firstPage(slug))
        }}
        cancel={<Button onClick={onClose}>{words.cancel}</Button>}
      />
    </Dialog>
  )
}

/** The form for a new project; the wizard ends with it too. */
export function ProjectForm({
  onCreated,
  cancel,
}: {
  onCreated: (slug: string) => void
  cancel?: React.ReactNode
}) {
  const text = useText(shellText).project_form
  const words = useText(common)
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string>()
  const [isOverLimit, setOverLimit] = useState(false)
  const isAdmin = useIsAdmin()
  return (
    <ApiForm
      onSubmit={async ({ website, industry, icp, ...sections }) => {
        setOverLimit(false)
        try {
          const { project } = await ok(
            api.POST('/api/cockpit/projects/create', {
              body: {
                ...sections,
                name: name.trim(),
                slug: (slug ?? slugFrom(name)).trim(),
                website: websiteFrom(website),
                industry: industry || null,
                icp: icp || null,
              },
            }),
          )
          await queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey })
          toast(text.created(project.name))
          onCreated(project.slug)
        } catch (error) {
          setOverLimit(error instanceof ProblemError && error.problem.code === 'license_limit')
          throw error
        }
      }}
    >
      <div className="grid gap-4 md:grid-cols-2">
        <FormField name="name" label={text.name} hint={text.name_hint}>
          <Input value={name} onChange={(event) => setName(event.target.value)} maxLength={120} />
        </FormField>
        <FormField name="slug" label={text.slug} hint={text.slug_hint}>
          <Input
            value={slug ?? slugFrom(name)}
            onChange={(event) => setSlug(event.target.value)}
            maxLength={41}
            spellCheck={false}
          />
        </FormField>
        <FormField name="website" label={text.website} isOptional>
          <Input inputMode="url" placeholder="demir.example" />
        </FormField>
        <FormField name="industry" label={text.industry} isOptional>
          <Input />
        </FormField>
        <FormField
          name="icp"
          label={text.icp}
          hint={text.icp_hint}
          isOptional
          className="md:col-span-2"
        >
          <CountedTextarea rows={3} placeholder={text.icp_example} limit={LIMITS.icp} />
        </FormField>
      </div>
      <fieldset className="mt-6 grid gap-4 md:grid-cols-2">
        <legend className="mb-1 text-sm text-muted">{text.mails}</legend>
        {WRITING.map((field) => (
          <FormField
            key={field}
            name={field}
            label={words.writing.fields[field]}
            hint={words.writing.hints[field]}
            isOptional
          >
            <CountedTextarea rows={3} limit={LIMITS[field]} />
          </FormField>
        ))}
      </fieldset>
      <FormError className="mt-4" />
      {isOverLimit && isAdmin ? (
        <Link href="/settings/license" className={`${buttonClass({ size: 'sm' })} mt-2`}>
          {text.over_limit}
        </Link>
      ) : null}
      <Actions>
        {cancel}
        <Submit>{text.submit}</Submit>
      </Actions>
    </ApiForm>
  )
}
