import { texts } from '../i18n/words.ts'

/** Why something with a member or a link is refused. */
export const membersText = texts(
  {
    absent: 'There is no such member. They may have been removed.',
    no_email: 'This is not an e-mail address.',
    known: 'This person is a member or invited already. Make a new link for them instead.',
    no_link: 'There is no open link. It was used, has expired or was withdrawn.',
    bad_link:
      'This link does not work: it was used, has expired or was withdrawn. Ask an admin for a new one.',
    yourself: 'You cannot do this to yourself. Ask another admin.',
    single_admin:
      'The first admin has no row of a member: it always stays. Its password is changed in Settings, or on the server with `watchpost-hub reset-password`.',
    wrong_login:
      'The e-mail or the password is wrong. If you have forgotten the password, ask an admin for a new link.',
    name_needed: 'Give your name.',
  },
  {
    absent: 'Böyle bir üye yok. Çıkarılmış olabilir.',
    no_email: 'Bu bir e-posta adresi değil.',
    known: 'Bu kişi zaten üye ya da davetli. Onun için yeni bir bağlantı oluşturun.',
    no_link: 'Açık bir bağlantı yok. Kullanılmış, süresi dolmuş ya da geri alınmış.',
    bad_link:
      'Bu bağlantı çalışmıyor: kullanılmış, süresi dolmuş ya da geri alınmış. Bir yöneticiden yenisini isteyin.',
    yourself: 'Bunu kendinize yapamazsınız. Başka bir yöneticiden isteyin.',
    single_admin:
      'İlk yöneticinin üye kaydı yoktur: her zaman kalır. Parolası Ayarlar’da ya da sunucuda `watchpost-hub reset-password` ile değiştirilir.',
    wrong_login:
      'E-posta ya da parola yanlış. Parolanızı unuttuysanız bir yöneticiden yeni bir bağlantı isteyin.',
    name_needed: 'Adınızı yazın.',
  },
)
