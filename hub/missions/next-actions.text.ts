import { texts } from '../i18n/words.ts'

/** The titles of the next actions on Today; tasks and approvals bring their own title. */
export const nextActionText = texts(
  {
    add_service_key: 'Paste the service key: until then everything is read-only',
    create_project: 'Create your first project',
    confirm_mail: 'Mail is paused: see why, then resume it',
    check_unclear: (subject: string) =>
      `Find out whether “${subject}” was sent: the server never confirmed it`,
    decide_opt_out: (lead: string) => `Decide whether ${lead} wants no more mail`,
    answer_reply: (lead: string) => `Answer the reply from ${lead}`,
    approve_draft: (subject: string) => `Read and approve “${subject}”`,
    approve_sequence: (name: string) => `Read and approve the sequence “${name}”`,
    check_sequence: (name: string, n: number) =>
      n === 1
        ? `Find out whether 1 mail of the sequence “${name}” was sent`
        : `Find out whether ${n} mails of the sequence “${name}” were sent`,
    decide_approval: (title: string) => `Decide: ${title}`,
    send_draft: (subject: string) => `Send the approved draft “${subject}”`,
    finish_draft: (n: number) =>
      n === 1
        ? 'Finish 1 draft that has no design yet'
        : `Finish ${n} drafts that have no design yet`,
    follow_up: (lead: string, days: number) => `Follow up with ${lead}: no reply for ${days} days`,
    look_at_failed_import: (file: string) => `See why the import of ${file} stopped`,
    correct_import: (n: number, file: string) =>
      `Correct ${n} ${n === 1 ? 'row' : 'rows'} in ${file} and import ${n === 1 ? 'it' : 'them'} again`,
    look_at_failed_mission: (task: string) => `See why “${task}” failed`,
    choose_model: 'Choose a model: missions are waiting for one',
    set_up_mail: 'Set up mail: drafts can be written without it, but not sent',
    set_brand: (project: string) =>
      `Enter the sender and the postal address of ${project}: nothing is sent without them`,
    renew_license: 'Renew the license',
    add_leads: (project: string) =>
      `Add leads to ${project}: import a file or send the research agent`,
    describe_project: (project: string, missing: string) =>
      `Tell the agents about ${project}: ${missing} still missing`,
    write_to_leads: (n: number) =>
      n === 1 ? 'Write to 1 new lead with an e-mail' : `Write to ${n} new leads with an e-mail`,
    more: (n: number) => `And ${n} more of this kind`,
  },
  {
    add_service_key: 'Servis anahtarını yapıştırın: o zamana dek her şey salt okunur',
    create_project: 'İlk projenizi oluşturun',
    confirm_mail: 'Gönderim duraklatıldı: nedenine bakın, sonra sürdürün',
    check_unclear: (subject) => `“${subject}” gönderildi mi, öğrenin: sunucu hiç doğrulamadı`,
    decide_opt_out: (lead) => `${lead} artık e-posta istemiyor mu, karar verin`,
    answer_reply: (lead) => `${lead} yanıt verdi: yanıtlayın`,
    approve_draft: (subject) => `Okuyup onaylayın: “${subject}”`,
    approve_sequence: (name) => `Diziyi okuyup onaylayın: “${name}”`,
    check_sequence: (name, n) => `“${name}” dizisinin ${n} e-postası gönderildi mi, öğrenin`,
    decide_approval: (title) => `Karar verin: ${title}`,
    send_draft: (subject) => `Onaylanan “${subject}” taslağını gönderin`,
    finish_draft: (n) => `Tasarımı olmayan ${n} taslağı bitirin`,
    follow_up: (lead, days) => `${lead}: ${days} gündür yanıt yok, yeniden yazın`,
    look_at_failed_import: (file) => `${file} dosyasının aktarımı neden durdu, bakın`,
    correct_import: (n, file) => `${file} dosyasındaki ${n} satırı düzeltip yeniden aktarın`,
    look_at_failed_mission: (task) => `“${task}” neden başarısız oldu, bakın`,
    choose_model: 'Bir model seçin: görevler onu bekliyor',
    set_up_mail: 'E-postayı kurun: taslaklar onsuz da yazılır ama gönderilemez',
    set_brand: (project) =>
      `${project} projesinin göndereni ve posta adresini girin: onlarsız hiçbir şey gönderilmez`,
    renew_license: 'Lisansı yenileyin',
    add_leads: (project) =>
      `${project} projesine aday ekleyin: bir dosya aktarın ya da araştırma ajanını görevlendirin`,
    describe_project: (project, missing) =>
      `${project} projesini ajanlara anlatın: eksik: ${missing}`,
    write_to_leads: (n) => `E-postası olan ${n} yeni adaya yazın`,
    more: (n) => `Bu türden ${n} iş daha`,
  },
)
