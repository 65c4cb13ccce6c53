import { texts } from '../../i18n/words.ts'

/** The checks before a mail is sent: what each one found, and what to do about it. */
export const gateText = texts(
  {
    evidence: (count: number) => `Sentences that state something: ${count}, each with evidence.`,
    stood_for: (count: number, stood: number) =>
      `Sentences with evidence: ${count}. Sentences that a person stands for: ${stood}.`,
    no_evidence: (count: number, sentence: string) =>
      count === 1
        ? `1 sentence has no evidence: “${sentence}”`
        : `${count} sentences have no evidence, one of them: “${sentence}”`,
    contradicted: (count: number, sentence: string) =>
      `The evidence says otherwise: “${sentence}”${count > 1 ? ` In all, ${count} sentences have no evidence.` : ''}`,
    add_evidence: 'Change the sentence, add evidence for it, or stand for it yourself.',
    unproven: (sentence: string) =>
      `“${sentence}” has no evidence. Change it, add evidence for it, or stand for it yourself.`,
    untrue: (sentence: string) =>
      `“${sentence}”: the evidence says otherwise. Change it, or stand for it yourself.`,
    fresh: 'The rendered mail matches the current settings.',
    stale: 'The project’s brand, the lead or the mail server has changed since it was rendered.',
    render_again: 'Render it again.',
    for_everybody: 'True for every recipient.',
    left_out: (count: number, why: string) => `${count} skipped: ${why}`,
    correct_leads: 'Correct these leads, or send without them.',
    no_field: (keys: string) => `The mail names fields that the project does not have: ${keys}.`,
    unfit: (keys: string) =>
      `A fallback text must have 1 to 80 characters, without < > " & and braces: ${keys}.`,
    correct_fields: 'Correct the names in the text, or add the fields to the project.',
    empty: (label: string, names: string, more: number) =>
      `“${label}” is empty for ${names}${more > 0 ? ` and ${more} more` : ''}.`,
    left_out_empty: (count: number) =>
      count === 1 ? 'This recipient is left out.' : `These ${count} recipients are left out.`,
    fill_fields:
      'Fill in the field on the lead, add a fallback text as in {field|text}, or send without these recipients.',
    recipients: (count: number, total: number) => `${count} of ${total} people will get it.`,
    without_email: (count: number) =>
      count === 1 ? '1 lead has no e-mail address.' : `${count} leads have no e-mail address.`,
    nobody: (why: string) => `Nobody would get it: ${why}.`,
    no_address: 'no lead of the audience has an e-mail address',
    other_audience: 'Correct the leads or choose another audience.',
    unsubscribe_listmonk: 'listmonk adds its own unsubscribe link and headers.',
    unsubscribe: (url: string) => `Recipients unsubscribe with one click at ${url}.`,
    unreachable:
      'Recipients could not reach the unsubscribe link: the hub has no public https address.',
    set_public_url:
      'In Settings > Mail, enter the https address where recipients reach the hub (public_url).',
    transports: {
      smtp: 'SMTP, one mail at a time.',
      tx: 'listmonk, as a single mail.',
      campaign: 'listmonk, as a campaign on a list of its own.',
    },
    no_transport: 'No mail server is set up.',
    step_by_smtp:
      'The mails of a sequence go by SMTP: listmonk does not tell whether a mail left, and the next one depends on it.',
    enter_smtp: 'Set up SMTP in Settings > Mail; campaigns still go by listmonk.',
    enter_transport: 'Set up listmonk or SMTP in Settings > Mail.',
    no_sender: 'The project has no sender.',
    enter_sender: 'Enter the sender in Project > Brand.',
    no_postal_address: 'The footer has no postal address.',
    enter_postal_address: 'Enter it in Project > Brand.',
    used: (used: number, cap: number) => `${used} of today’s ${cap} mails have been sent.`,
    used_up: (cap: number) => `Today’s limit of ${cap} mails is reached.`,
    ramp_used: (sender: string, used: number, cap: number, day: number) =>
      `${sender} has sent ${used} of the ${cap} mails of its day ${day}.`,
    ramp_used_up: (sender: string, cap: number, day: number) =>
      `${sender} has sent the ${cap} mails that it may send on its day ${day}.`,
    tomorrow: 'Sending continues automatically tomorrow.',
    not_paused: 'Mail is not paused.',
    paused: {
      admin: 'Mail is paused.',
      restored: 'Mail is paused because a backup was restored.',
      bounces: 'Mail is paused: too many mails bounced.',
      complaints: 'Mail is paused: too many mails were reported as spam.',
      agent: 'Mail is paused: you approved that action of the system agent.',
    },
    confirm: 'Find the cause, then confirm in Settings > Mail.',
    of_mails: (count: number, sent: number) => `${count} of ${sent} mails.`,
    license: 'The license covers this project.',
    enter_license: 'Enter a license in Settings > License.',
    dns_missing: (name: string) => `The sender’s domain has no ${name} record.`,
    dns_found: 'The record was found.',
    dns_unknown: 'Unknown: DNS was not queried or did not answer.',
    not_yet: 'This draft cannot be sent yet:',
    more: (count: number) =>
      count === 1 ? '1 more check failed.' : `${count} more checks failed.`,
  },
  {
    evidence: (count) => `Bilgi içeren ${count} cümlenin her birinin kanıtı var.`,
    stood_for: (count, stood) =>
      `Kanıtı olan cümle: ${count}. Bir kişinin sorumluluğunu aldığı cümle: ${stood}.`,
    no_evidence: (count, sentence) =>
      count === 1
        ? `1 cümlenin kanıtı yok: “${sentence}”`
        : `${count} cümlenin kanıtı yok, biri: “${sentence}”`,
    contradicted: (count, sentence) =>
      `Kanıt tersini söylüyor: “${sentence}”${count > 1 ? ` Toplam ${count} cümlenin kanıtı yok.` : ''}`,
    add_evidence: 'Cümleyi değiştirin, kanıt ekleyin ya da sorumluluğunu siz alın.',
    unproven: (sentence) =>
      `“${sentence}” cümlesinin kanıtı yok. Değiştirin, kanıt ekleyin ya da sorumluluğunu siz alın.`,
    untrue: (sentence) =>
      `“${sentence}”: kanıt tersini söylüyor. Değiştirin ya da sorumluluğunu siz alın.`,
    fresh: 'Oluşturulan e-posta güncel ayarlara uygun.',
    stale: 'E-posta oluşturulduktan sonra projenin markası, aday ya da e-posta sunucusu değişti.',
    render_again: 'E-postayı yeniden oluşturun.',
    for_everybody: 'Her alıcı için uygun.',
    left_out: (count, why) => `${count} kişi atlanacak: ${why}`,
    correct_leads: 'Bu adayları düzeltin ya da onlarsız gönderin.',
    no_field: (keys) => `E-posta, projede olmayan alanları anıyor: ${keys}.`,
    unfit: (keys) => `| işaretinden sonraki, boş bir alanın yerine geçemez: ${keys}.`,
    correct_fields: 'Metindeki adları düzeltin ya da alanları projeye ekleyin.',
    empty: (label, names, more) =>
      `“${label}” şu alıcılarda boş: ${names}${more > 0 ? ` ve ${more} kişi daha` : ''}.`,
    left_out_empty: (count) =>
      count === 1 ? 'Bu alıcı dışarıda kalır.' : `Bu ${count} alıcı dışarıda kalır.`,
    fill_fields:
      'Alanı adayda doldurun, {alan|metin} gibi yerine ne yazılacağını belirtin ya da onlarsız gönderin.',
    recipients: (count, total) => `${total} kişiden ${count} kişi alacak.`,
    without_email: (count) => `${count} adayın e-posta adresi yok.`,
    nobody: (why) => `Kimse almayacak: ${why}.`,
    no_address: 'kitledeki hiçbir adayın e-posta adresi yok',
    other_audience: 'Adayları düzeltin ya da başka bir kitle seçin.',
    unsubscribe_listmonk: 'Abonelikten çıkma bağlantısını ve başlıklarını listmonk ekler.',
    unsubscribe: (url) => `Alıcılar tek tıkla abonelikten çıkabilir: ${url}`,
    unreachable:
      'Alıcılar abonelikten çıkma bağlantısına ulaşamaz: hub’ın genel bir https adresi yok.',
    set_public_url:
      'Alıcıların ulaşabileceği https adresini Ayarlar > E-posta bölümüne girin (public_url).',
    transports: {
      smtp: 'SMTP ile, birer birer.',
      tx: 'listmonk ile, tek e-posta olarak.',
      campaign: 'listmonk ile, kendi listesine giden bir kampanya olarak.',
    },
    no_transport: 'E-posta sunucusu tanımlı değil.',
    step_by_smtp:
      'Bir dizinin e-postaları SMTP ile gider: listmonk bir e-postanın çıkıp çıkmadığını bildirmez, sonraki adım ise buna bağlıdır.',
    enter_smtp: 'Ayarlar > E-posta bölümünde SMTP tanımlayın; kampanyalar yine listmonk ile gider.',
    enter_transport: 'Ayarlar > E-posta bölümünde listmonk ya da SMTP tanımlayın.',
    no_sender: 'Projenin göndereni yok.',
    enter_sender: 'Göndereni Proje > Marka bölümüne girin.',
    no_postal_address: 'Alt bilgide posta adresi yok.',
    enter_postal_address: 'Proje > Marka bölümüne girin.',
    used: (used, cap) => `Bugünkü ${cap} e-postanın ${used} tanesi gönderildi.`,
    used_up: (cap) => `Bugünkü ${cap} e-posta sınırına ulaşıldı.`,
    ramp_used: (sender, used, cap, day) =>
      `${sender}, ${day}. gününün ${cap} e-postasından ${used} tanesini gönderdi.`,
    ramp_used_up: (sender, cap, day) =>
      `${sender}, ${day}. gününde gönderebileceği ${cap} e-postayı gönderdi.`,
    tomorrow: 'Gönderim yarın kendiliğinden devam eder.',
    not_paused: 'Gönderim duraklatılmış değil.',
    paused: {
      admin: 'Gönderim duraklatıldı.',
      restored: 'Bir yedek geri yüklendiği için gönderim duraklatıldı.',
      bounces: 'Gönderim duraklatıldı: çok fazla e-posta geri döndü.',
      complaints: 'Gönderim duraklatıldı: çok fazla e-posta istenmeyen olarak bildirildi.',
      agent: 'Gönderim duraklatıldı: sistem ajanının bu işlemini onayladınız.',
    },
    confirm: 'Nedenini bulun, sonra Ayarlar > E-posta bölümünde onaylayın.',
    of_mails: (count, sent) => `${sent} e-postadan ${count} tanesi.`,
    license: 'Lisans bu projeyi kapsıyor.',
    enter_license: 'Ayarlar > Lisans bölümüne bir lisans girin.',
    dns_missing: (name) => `Gönderenin alan adında ${name} kaydı yok.`,
    dns_found: 'Kayıt bulundu.',
    dns_unknown: 'Bilinmiyor: DNS sorgulanmadı ya da yanıt vermedi.',
    not_yet: 'Bu taslak henüz gönderilemez:',
    more: (count) => `${count} denetim daha geçmedi.`,
  },
)

/** Why somebody in the audience is skipped, and what to do about it. */
export const skipText = texts(
  {
    suppressed: 'unsubscribed, bounced or on the suppression list',
    no_lawful_basis: 'no lawful basis: enter on the lead why you may write to them',
    no_source: 'no source: enter on the lead where the address comes from',
    may_refuse: 'may have asked for no more mail: decide on the lead',
    replied: 'already replied: no follow-up after a reply',
    replied_since: 'replied after this mail was written: answer in the inbox or write a new mail',
    invalid_email: 'not an e-mail address: correct it on the lead',
    role_address: 'a role address such as info@: ask for a person’s own',
    disposable_address: 'a disposable address: ask for another',
    empty_field:
      'a field that the mail names is empty: fill it in, or add a fallback text: {field|text}',
    lead_deleted: 'the lead was deleted',
    other_address: 'the lead’s address has changed',
  },
  {
    suppressed: 'abonelikten çıktı, adresi geri döndü ya da engelleme listesinde',
    no_lawful_basis: 'hukuki dayanak yok: neden yazabileceğinizi adayda belirtin',
    no_source: 'kaynak yok: adresin nereden geldiğini adayda belirtin',
    may_refuse: 'belki artık e-posta istemiyor: adayda karar verin',
    replied: 'zaten yanıt verdi: yanıttan sonra hatırlatma gitmez',
    replied_since:
      'bu e-posta yazıldıktan sonra yanıt verdi: gelen kutusunda yanıtlayın ya da yeni bir e-posta yazın',
    invalid_email: 'e-posta adresi değil: adayda düzeltin',
    role_address: 'info@ gibi ortak bir adres: kişinin kendi adresini isteyin',
    disposable_address: 'geçici bir adres: başka bir adres isteyin',
    empty_field:
      'e-postada geçen bir alan boş: doldurun ya da yerine ne yazılacağını belirtin: {alan|metin}',
    lead_deleted: 'aday silindi',
    other_address: 'adayın adresi değişti',
  },
)
