import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { ApiForm } from '../../../web/shared/errors.tsx'
import { Button, buttonClass } from '../../../web/ui/button.tsx'
import { Input, Textarea } from '../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../web/ui/form.tsx'
import { useText } from '../../../web/ui/language.ts'
import { Actions, Dialog } from '../../../web/ui/layer.tsx'
import { toast } from '../../../web/ui/toast.tsx'
import { api, ok, ProblemError } from '../api/client.ts'
import { projectsQuery } from '../api/queries.ts'
import { common } from '../common.text.ts'
import { firstPage } from '../pages.tsx'
import { slugFrom, websiteFrom } from './project-fields.ts'
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
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string>()
  const [isOverLimit, setOverLimit] = useState(false)
  return (
    <ApiForm
      onSubmit={async ({ website, industry, icp }) => {
        setOverLimit(false)
        try {
          const { project } = await ok(
            api.POST('/api/cockpit/projects/create', {
              body: {
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
          <Textarea rows={3} placeholder={text.icp_example} />
        </FormField>
      </div>
      <FormError className="mt-4" />
      {isOverLimit ? (
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
