import { texts } from '../../i18n/words.ts'

/** The questions that the data agent answers without a model, the names of their columns, and their answers. */
export const knownText = texts(
  {
    leads: {
      ask: 'How many leads do we have?',
      columns: { all: 'Leads', fresh: 'New' },
      say: (all: string, fresh: string) => `You have ${all} leads, ${fresh} of them new.`,
    },
    stages: {
      ask: 'How many leads are in each stage?',
      columns: { label: 'Stage', n: 'Leads' },
    },
    weeks: {
      ask: 'How many leads came in each week?',
      columns: { label: 'Week of', n: 'New leads' },
    },
    sources: {
      ask: 'Where do our leads come from?',
      columns: { label: 'Source', n: 'Leads' },
      none: 'no source',
    },
    countries: {
      ask: 'Which countries are our leads in?',
      columns: { label: 'Country', n: 'Leads' },
      none: 'no country',
    },
    mails: {
      ask: 'How many mails were sent, and how many were answered?',
      columns: { sent: 'Sent', replied: 'Answered', bounced: 'Bounced', left: 'Unsubscribed' },
      say: (sent: string, replied: string, bounced: string, left: string) =>
        `${sent} mails were sent: ${replied} answered, ${bounced} bounced, ${left} unsubscribed.`,
    },
    silent: {
      ask: 'Who has not answered yet?',
      columns: { name: 'Lead', company: 'Company', sent: 'Written to' },
    },
    due: {
      ask: 'Which tasks are due?',
      columns: { title: 'Task', lead: 'Lead', due: 'Due' },
    },
    drafts: {
      ask: 'How many drafts are there in each state?',
      columns: { label: 'State', n: 'Drafts' },
    },
    missions: {
      ask: 'How many missions failed in the last 30 days?',
      columns: { done: 'Done', failed: 'Failed' },
      say: (done: string, failed: string) =>
        `In the last 30 days ${failed} missions failed and ${done} were done.`,
    },
  },
  {
    leads: {
      ask: 'Kaç adayımız var?',
      columns: { all: 'Aday', fresh: 'Yeni' },
      say: (all, fresh) => `${all} adayınız var, ${fresh} tanesi yeni.`,
    },
    stages: {
      ask: 'Hangi aşamada kaç aday var?',
      columns: { label: 'Aşama', n: 'Aday' },
    },
    weeks: {
      ask: 'Her hafta kaç aday geldi?',
      columns: { label: 'Haftanın başı', n: 'Yeni aday' },
    },
    sources: {
      ask: 'Adaylarımız nereden geliyor?',
      columns: { label: 'Kaynak', n: 'Aday' },
      none: 'kaynağı yok',
    },
    countries: {
      ask: 'Adaylarımız hangi ülkelerde?',
      columns: { label: 'Ülke', n: 'Aday' },
      none: 'ülkesi yok',
    },
    mails: {
      ask: 'Kaç e-posta gönderildi, kaçı yanıtlandı?',
      columns: { sent: 'Gönderilen', replied: 'Yanıtlanan', bounced: 'Dönen', left: 'Çıkan' },
      say: (sent, replied, bounced, left) =>
        `${sent} e-posta gönderildi: ${replied} yanıt, ${bounced} geri dönüş, listeden çıkan ${left}.`,
    },
    silent: {
      ask: 'Kim henüz yanıt vermedi?',
      columns: { name: 'Aday', company: 'Firma', sent: 'Yazıldı' },
    },
    due: {
      ask: 'Hangi işlerin günü geldi?',
      columns: { title: 'İş', lead: 'Aday', due: 'Son gün' },
    },
    drafts: {
      ask: 'Hangi durumda kaç taslak var?',
      columns: { label: 'Durum', n: 'Taslak' },
    },
    missions: {
      ask: 'Son 30 günde kaç görev başarısız oldu?',
      columns: { done: 'Biten', failed: 'Başarısız' },
      say: (done, failed) => `Son 30 günde ${failed} görev başarısız oldu, ${done} görev bitti.`,
    },
  },
)
