import { useQuery } from '@tanstack/react-query'
import { KeyRound, LockKeyhole } from 'lucide-react'
import { useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { healthQuery } from '../../api/queries.ts'
import { ServiceKeyForm } from '../welcome/key-step.tsx'
import { Card, Section } from './section.tsx'
import { settingsText } from './settings.text.ts'

/** The database key in use, and a form to replace it. */
export function ServiceKey() {
  const { key: text } = useText(settingsText)
  const role = useQuery(healthQuery).data?.key_role
  const Icon = role === 'hub_ro' ? LockKeyhole : KeyRound
  return (
    <Section title={text.title} text={text.text}>
      <Card title={text.now}>
        <p className="flex items-center gap-2">
          <Icon size={16} aria-hidden className={role === 'hub_ro' ? 'text-warn' : 'text-good'} />
          {role === 'hub_ro' ? text.reads : text.writes}
        </p>
      </Card>
      <Card title={text.change}>
        <ServiceKeyForm onDone={() => toast(text.works)} />
      </Card>
    </Section>
  )
}
