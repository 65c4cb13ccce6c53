import {
  CalendarCheck,
  ChevronRight,
  CircleHelp,
  CircleX,
  Cpu,
  FileWarning,
  FileX,
  FolderPlus,
  Gavel,
  KeyRound,
  type LucideIcon,
  MailCheck,
  MailWarning,
  NotebookPen,
  PenLine,
  Reply,
  ScrollText,
  Send,
  Server,
  Stamp,
  Timer,
  Upload,
  UserMinus,
} from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../../../../web/ui/button.tsx'
import { localeOf, useLanguage, useText } from '../../../../web/ui/language.ts'
import { day } from '../../../../web/ui/time.tsx'
import { today } from '../leads/lead-tasks.tsx'
import { type NextAction, pathOf } from './actions.ts'
import { todayText } from './today.text.ts'

const GLYPHS: Record<NextAction['kind'], LucideIcon> = {
  add_service_key: KeyRound,
  create_project: FolderPlus,
  confirm_mail: MailWarning,
  check_unclear: CircleHelp,
  task_due: CalendarCheck,
  decide_opt_out: UserMinus,
  answer_reply: Reply,
  approve_draft: MailCheck,
  approve_sequence: MailCheck,
  check_sequence: CircleHelp,
  decide_approval: Gavel,
  send_draft: Send,
  finish_draft: PenLine,
  follow_up: Timer,
  look_at_failed_import: FileX,
  correct_import: FileWarning,
  look_at_failed_mission: CircleX,
  choose_model: Cpu,
  set_up_mail: Server,
  set_brand: Stamp,
  renew_license: ScrollText,
  add_leads: Upload,
  describe_project: NotebookPen,
  write_to_leads: PenLine,
}

const AT_FIRST = 10

/** The next actions, each with a link to where it is done. */
export function ActionList({ actions }: { actions: NextAction[] }) {
  const text = useText(todayText)
  const language = useLanguage()
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? actions : actions.slice(0, AT_FIRST)
  return (
    <>
      <ol>
        {shown.map((action) => {
          const Glyph = GLYPHS[action.kind]
          const isLate = action.due_on !== null && action.due_on < today()
          return (
            <li
              key={`${action.kind}-${action.ref?.id}-${action.project}-${action.is_rest}`}
              className="border-b border-line last:border-0"
            >
              <Link
                href={pathOf(action)}
                className="group flex min-h-12 items-center gap-3 rounded-control px-2 py-2 hover:bg-hover md:-mx-2"
              >
                <Glyph size={16} className="shrink-0 text-muted" aria-hidden />
                <span className="flex min-w-0 flex-1 flex-col md:flex-row md:gap-3">
                  <span className="min-w-0 flex-1 break-words">{action.title}</span>
                  {action.due_on ? (
                    <span className={`shrink-0 text-sm ${isLate ? 'text-bad' : 'text-muted'}`}>
                      {(isLate ? text.overdue : text.due)(day(action.due_on, localeOf(language)))}
                    </span>
                  ) : null}
                </span>
                <ChevronRight
                  size={16}
                  aria-hidden
                  className="shrink-0 text-muted opacity-0 transition-opacity group-hover:opacity-100 group-focus-visible:opacity-100"
                />
              </Link>
            </li>
          )
        })}
      </ol>
      {shown.length < actions.length ? (
        <Button variant="ghost" className="mt-2" onClick={() => setWhole(true)}>
          {text.show_all(actions.length)}
        </Button>
      ) : null}
    </>
  )
}
