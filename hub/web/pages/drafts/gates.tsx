import { CircleAlert, CircleCheck, CircleMinus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { useIsAdmin } from '../../api/queries.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { stepsText } from './drafts.text.ts'
import { gatesText } from './gates.text.ts'
import type { Gate } from './queries.ts'

const IN_MAIL = ['transport', 'paused', 'bounces', 'complaints']
const IN_BRAND = ['sender', 'postal_address']
const PLACES: Record<string, string> = {
  ...Object.fromEntries(IN_MAIL.map((name) => [name, '/settings/mail'])),
  unsubscribe: '/settings/mail',
  replies_read: '/settings/mail',
  license: '/settings/license',
}

/** What prevents sending; passed checks are folded away. */
export function Gates({ gates }: { gates: Gate[] }) {
  const text = useText(stepsText)
  const [isOpen, setOpen] = useState(false)
  const shut = gates.filter(({ ok, blocks }) => !ok && blocks)
  const advice = gates.filter(({ ok, blocks }) => !ok && !blocks)
  const right = gates.filter(({ ok }) => ok)
  return (
    <section aria-labelledby="gates">
      <h3 id="gates" className="mb-2 text-sm text-muted">
        {text.gates}
      </h3>
      <p className="flex items-center gap-2">
        {shut.length === 0 ? (
          <CircleCheck size={16} className="shrink-0 text-good" aria-hidden />
        ) : (
          <CircleAlert size={16} className="shrink-0 text-bad" aria-hidden />
        )}
        <span className="font-medium">
          {shut.length === 0 ? text.all_open(right.length) : text.shut(shut.length)}
        </span>
      </p>
      <ul className="mt-2 flex flex-col gap-2">
        {[...shut, ...advice, ...(isOpen ? right : [])].map((gate) => (
          <GateRow key={gate.name} gate={gate} />
        ))}
      </ul>
      {isOpen || right.length === 0 ? null : (
        <Button size="sm" variant="ghost" className="mt-1 -ml-2" onClick={() => setOpen(true)}>
          {text.show_all}
        </Button>
      )}
    </section>
  )
}

function GateRow({ gate }: { gate: Gate }) {
  const text = useText(gatesText)
  const words = useText(stepsText)
  const { only_admin } = useText(common)
  const isAdmin = useIsAdmin()
  const { names } = text
  const isKnown = (name: string): name is keyof typeof names => Object.hasOwn(names, name)
  const name = isKnown(gate.name) ? gate.name : undefined
  const { slug } = useProject()
  const brand = IN_BRAND.includes(gate.name) ? `/p/${slug}/project/brand` : undefined
  const place = gate.ok ? undefined : (brand ?? PLACES[gate.name])
  const Icon = gate.ok ? CircleCheck : gate.blocks ? CircleAlert : CircleMinus
  const tone = gate.ok ? 'text-good' : gate.blocks ? 'text-bad' : 'text-warn'
  return (
    <li className="flex gap-2 text-sm">
      <Icon size={16} className={`mt-0.5 shrink-0 ${tone}`} aria-hidden />
      <div className="min-w-0">
        <p className={gate.ok ? 'text-muted' : 'font-medium'}>{name ? names[name] : gate.name}</p>
        <p className="text-muted break-words">{gate.detail}</p>
        {gate.way_out ? <p className="text-muted break-words">{gate.way_out}</p> : null}
        {place && isAdmin === false ? <p className="text-muted">{only_admin.title}.</p> : null}
        {place && isAdmin ? (
          <Link href={place} className="text-accent-text hover:underline">
            {brand ? words.brand : words.settings}
          </Link>
        ) : null}
      </div>
    </li>
  )
}
