import { texts } from '../../../../shared/words/texts.ts'
import { plural } from '../../../../web/ui/language.ts'

export const todayText = texts(
  {
    title: 'Today',
    tiles: {
      new_leads: 'new leads',
      drafts_waiting: 'drafts to approve',
      approved: 'approved, not sent',
      sent: 'mails sent',
      missions: 'missions done',
      failed: (n: number) => plural('en', n, { one: '# failed', other: '# failed' }),
    },
    next: 'Next actions',
    show_all: (n: number) => plural('en', n, { other: 'Show all #' }),
    nothing: {
      title: 'Nothing is waiting for you',
      text: 'Give an agent a mission, or look at your leads.',
      action: 'Open the leads',
    },
    pipeline: 'Pipeline',
    pipeline_label: 'Leads by stage',
    new_leads: 'New leads in the last 30 days',
    due: (day: string) => `due ${day}`,
    overdue: (day: string) => `overdue since ${day}`,
  },
  {
    title: 'Bugün',
    tiles: {
      new_leads: 'yeni aday',
      drafts_waiting: 'onaylanacak taslak',
      approved: 'onaylı, gönderilmedi',
      sent: 'gönderilen e-posta',
      missions: 'biten görev',
      failed: (n) => plural('tr', n, { other: '# başarısız' }),
    },
    next: 'Sıradaki işler',
    show_all: (n) => plural('tr', n, { other: 'Tümünü göster (#)' }),
    nothing: {
      title: 'Sizi bekleyen bir şey yok',
      text: 'Bir ajanı görevlendirin ya da adaylarınıza bakın.',
      action: 'Adayları aç',
    },
    pipeline: 'Satış hattı',
    pipeline_label: 'Aşamalara göre adaylar',
    new_leads: 'Son 30 günde yeni adaylar',
    due: (day) => `son gün ${day}`,
    overdue: (day) => `${day} tarihinden beri gecikti`,
  },
)
