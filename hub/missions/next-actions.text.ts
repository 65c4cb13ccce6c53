import { texts } from '../i18n/words.ts'

/** What there is to do, each in one line of a list; a task and an approval have a title themselves. */
export const nextActionText = texts(
  {
    add_service_key: 'Paste the service key: until then everything can only be read',
    create_project: 'Create your first project',
    confirm_mail: 'Mail is paused: see why, then confirm',
    check_unclear: (subject: string) =>
      `Find out whether “${subject}” was sent: the answer never came`,
    answer_reply: (lead: string) => `Answer ${lead}, who replied`,
    approve_draft: (subject: string) => `Read and approve “${subject}”`,
    decide_approval: (title: string) => `Decide: ${title}`,
    send_draft: (subject: string) => `Send “${subject}”, which is approved`,
    finish_draft: (n: number) =>
      n === 1
        ? 'Finish 1 draft that has no design yet'
        : `Finish ${n} drafts that have no design yet`,
    follow_up: (lead: string, days: number) => `Follow up with ${lead}: no answer for ${days} days`,
    look_at_failed_import: (file: string) => `See why the import of ${file} stopped`,
    correct_import: (n: number, file: string) =>
      `Correct ${n} ${n === 1 ? 'row' : 'rows'} of ${file} and import ${n === 1 ? 'it' : 'them'} again`,
    look_at_failed_mission: (task: string) => `See why “${task}” failed`,
    choose_model: 'Choose a model: missions wait for one',
    set_up_mail: 'Set up mail: drafts can be made without, sending cannot',
    renew_license: 'Renew the licence',
    add_leads: (project: string) =>
      `Add leads to ${project}: import a file or send the research agent`,
    write_to_leads: (n: number) =>
      n === 1 ? 'Write to 1 new lead with an e-mail' : `Write to ${n} new leads with an e-mail`,
  },
  {
    add_service_key: 'Servis anahtarını yapıştırın: o zamana dek her şey salt okunur',
    create_project: 'İlk projenizi oluşturun',
    confirm_mail: 'E-posta durduruldu: nedenine bakın, sonra onaylayın',
    check_unclear: (subject) => `“${subject}” gönderildi mi öğrenin: yanıt hiç gelmedi`,
    answer_reply: (lead) => `${lead} yanıt verdi: geri dönün`,
    approve_draft: (subject) => `Okuyup onaylayın: “${subject}”`,
    decide_approval: (title) => `Karar verin: ${title}`,
    send_draft: (subject) => `Onaylanan “${subject}” taslağını gönderin`,
    finish_draft: (n) => `Tasarımı olmayan ${n} taslağı bitirin`,
    follow_up: (lead, days) => `${lead}: ${days} gündür yanıt yok, yeniden yazın`,
    look_at_failed_import: (file) => `${file} dosyasının aktarımı neden durdu, bakın`,
    correct_import: (n, file) => `${file} dosyasındaki ${n} satırı düzeltip yeniden aktarın`,
    look_at_failed_mission: (task) => `“${task}” neden başarısız oldu, bakın`,
    choose_model: 'Bir model seçin: görevler onu bekliyor',
    set_up_mail: 'E-postayı kurun: taslak onsuz da yazılır, gönderim yapılamaz',
    renew_license: 'Lisansı yenileyin',
    add_leads: (project) =>
      `${project} projesine aday ekleyin: bir dosya aktarın ya da araştırma ajanını gönderin`,
    write_to_leads: (n) => `E-postası olan ${n} yeni adaya yazın`,
  },
)
