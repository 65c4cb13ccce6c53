import { useQuery } from '@tanstack/react-query'
import { Check, Minus } from 'lucide-react'
import { useState } from 'react'
import { Link, Redirect, useLocation } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { LanguageSwitch } from '../../../../web/ui/language-switch.tsx'
import { ProblemError } from '../../api/client.ts'
import {
  brandQuery,
  firstOf,
  healthQuery,
  licenseQuery,
  mailQuery,
  modelsQuery,
  projectsQuery,
} from '../../api/queries.ts'
import { useLook } from '../../look.ts'
import { accessText } from '../access.text.ts'
import { BrandStep } from './brand-step.tsx'
import { FirstProject } from './first-project.tsx'
import { KeyStep } from './key-step.tsx'
import { LicenseStep } from './license-step.tsx'
import { MailStep } from './mail-step.tsx'
import { ModelStep } from './model-step.tsx'
import { PasswordStep } from './password-step.tsx'
import { readSkipped, STEPS, type Step, type StepProps, stepStates, writeSkipped } from './steps.ts'

const PANELS = {
  password: PasswordStep,
  key: KeyStep,
  model: ModelStep,
  license: LicenseStep,
  mail: MailStep,
  project: FirstProject,
  brand: BrandStep,
} satisfies Record<Step, React.ComponentType<StepProps>>

/**
 * The wizard. The hub itself knows which steps are done, so the wizard continues where somebody
 * left it.
 */
export function Welcome({ step }: { step?: string | undefined }) {
  const text = useText(accessText).welcome
  const look = useLook()
  const health = useQuery(healthQuery)
  const isSetUp = health.data?.set_up ?? false
  const projects = useQuery({ ...projectsQuery, enabled: isSetUp })
  const models = useQuery({ ...modelsQuery, enabled: isSetUp })
  const license = useQuery({ ...licenseQuery, enabled: isSetUp })
  const mail = useQuery({ ...mailQuery, enabled: isSetUp })
  const first = firstOf(projects.data)
  const brand = useQuery({ ...brandQuery(first?.slug ?? ''), enabled: Boolean(first) })
  const [skipped, setSkipped] = useState(readSkipped)
  const [, navigate] = useLocation()
  if (
    !health.data ||
    (isSetUp && [projects, models, license, mail].some(({ isPending }) => isPending)) ||
    (first && brand.isPending)
  )
    return null
  // A step that is done must not look open; what somebody may not see is not theirs to set up.
  const failed = [projects, models, license, mail, brand].find(
    (one) => hasFailed(one) && !isForbidden(one.error),
  )
  if (failed) return <FailedQuery error={failed.error} onRetry={() => failed.refetch()} />
  const states = stepStates({
    is_set_up: isSetUp,
    key_role: health.data.key_role,
    has_model: (models.data?.settings.kind ?? 'none') !== 'none',
    has_license: license.data?.status === 'valid',
    has_mail: Boolean(mail.data?.mail.smtp ?? mail.data?.mail.listmonk),
    projects: projects.data?.length ?? 0,
    has_brand: Boolean(brand.data?.brand.sender_email),
    skipped,
  })
  const next = STEPS.find((one) => states[one] === 'open')
  const isStep = (name: string | undefined): name is Step => STEPS.some((one) => one === name)
  const current = isStep(step) && (isSetUp || step === 'password') ? step : next
  if (!current) return <Redirect to="/" replace />
  if (current === 'password' && isSetUp) return <Redirect to="/welcome" replace />
  const Panel = PANELS[current]
  const after = (name: Step) => STEPS.slice(STEPS.indexOf(name) + 1)
  const proceed = () => {
    const following = after(current).find((one) => states[one] === 'open')
    navigate(following ? `/welcome/${following}` : '/')
  }
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <aside className="flex shrink-0 flex-col gap-6 border-line bg-surface p-5 max-md:border-b md:w-72 md:border-r md:p-8">
        <div className="flex items-center gap-3">
          <img src={look.logo ?? '/hub/icon.svg'} alt="" className="size-8 object-contain" />
          <span className="min-w-0 flex-1 truncate font-semibold">{look.name}</span>
          <span className="md:hidden">
            <LanguageSwitch />
          </span>
        </div>
        <ol aria-label={text.title} className="flex gap-1 md:flex-col">
          {STEPS.map((one, at) => (
            <li key={one} className="min-w-0 max-md:flex-1">
              <StepMark step={one} at={at + 1} state={states[one]} isHere={one === current} />
            </li>
          ))}
        </ol>
        <p className="mt-auto hidden text-sm text-muted text-pretty md:block">{text.resume}</p>
        <div className="hidden md:block">
          <LanguageSwitch />
        </div>
      </aside>
      <main className="flex flex-1 justify-center px-4 py-8 md:items-center md:px-12">
        <div className="w-full max-w-xl" key={current}>
          <p className="mb-2 text-sm text-muted">
            {text.step(STEPS.indexOf(current) + 1, STEPS.length)}
          </p>
          <Panel
            onDone={proceed}
            onSkip={() => {
              setSkipped(writeSkipped([...skipped, current]))
              proceed()
            }}
          />
        </div>
      </main>
    </div>
  )
}

const isForbidden = (error: unknown) =>
  error instanceof ProblemError && error.problem.code === 'forbidden'

function StepMark({
  step,
  at,
  state,
  isHere,
}: {
  step: Step
  at: number
  state: 'done' | 'skipped' | 'open'
  isHere: boolean
}) {
  const text = useText(accessText).welcome
  const mark = (
    <>
      <span
        aria-hidden
        className={cn(
          'flex size-6 shrink-0 items-center justify-center rounded-full border text-xs font-medium',
          isHere ? 'border-fg bg-fg text-ink' : 'border-line-strong text-muted',
          state === 'done' && !isHere && 'border-good text-good',
        )}
      >
        {state === 'done' ? <Check size={14} /> : state === 'skipped' ? <Minus size={14} /> : at}
      </span>
      <span className={cn('truncate max-md:sr-only', isHere ? 'font-medium' : 'text-muted')}>
        {text.steps[step]}
      </span>
      {state === 'open' ? null : <span className="sr-only">{text[state]}</span>}
    </>
  )
  const look = 'flex h-9 items-center gap-3 rounded-control px-1.5 max-md:justify-center'
  const canOpen = step !== 'password' && !isHere && state !== 'open'
  return canOpen ? (
    <Link href={`/welcome/${step}`} className={cn(look, 'hover:bg-hover')}>
      {mark}
    </Link>
  ) : (
    <span aria-current={isHere ? 'step' : undefined} className={look}>
      {mark}
    </span>
  )
}
