import { texts } from '../../../shared/words/texts.ts'
import { INVITE_DAYS } from '../orgs.ts'

export const inviteText = texts(
  {
    title: 'You are invited to an organisation on Watchpost',
    terms: `The invite works once, for ${INVITE_DAYS} days, and only for the email address it was sent to.`,
    sign_in:
      'Sign in with the invited address. If you have no account yet, create one with this address and confirm it.',
    accept: 'Accept the invite in the console',
    program: 'Accept it from a program',
    by_token: 'Send the token of the invite with the access token of your session:',
    token: 'what follows # in the link',
    list: (url: string) =>
      `Signed in, you can also see your open invites with <code>GET ${url}</code> and accept one by its id.`,
    incomplete:
      'This link is not complete: it has no token after #. Copy the whole link, or ask for a new invite.',
  },
  {
    title: 'Watchpost’ta bir kuruluşa davet edildiniz',
    terms: `Davet bir kez, ${INVITE_DAYS} gün boyunca ve yalnızca gönderildiği e-posta adresi için geçerlidir.`,
    sign_in:
      'Davet edilen adresle oturum açın. Henüz hesabınız yoksa bu adresle bir hesap açıp onaylayın.',
    accept: 'Daveti konsolda kabul et',
    program: 'Bir programdan kabul et',
    by_token: 'Davetin anahtarını oturumunuzun erişim anahtarıyla birlikte gönderin:',
    token: 'bağlantıda # işaretinden sonra gelen',
    list: (url) =>
      `Oturum açtıktan sonra açık davetlerinizi <code>GET ${url}</code> ile görebilir, birini kimliğiyle kabul edebilirsiniz.`,
    incomplete:
      'Bu bağlantı eksik: # işaretinden sonra anahtarı yok. Bağlantının tamamını kopyalayın ya da yeni bir davet isteyin.',
  },
)
