import { texts } from '../../../shared/words/texts.ts'

export const signInText = texts(
  {
    title: 'Sign in to Watchpost',
    by_link:
      'Open the sign-in link that the service printed when it started, or paste it here. Each link works once, and only for a short time.',
    link: 'Sign-in link',
    new_link: 'Need a new one? Run on the server:',
    incomplete: 'This is not a whole sign-in link: it has no token after #.',
    by_mail: 'We send a link to your address. It works once, and only for a short time.',
    email: 'E-mail',
    send: 'Send the link',
    sent: (email: string) => `The link is on its way to ${email}. You can close this page.`,
    sign_in: 'Sign in',
  },
  {
    title: 'Watchpost’ta oturum açın',
    by_link:
      'Hizmetin başlarken yazdığı oturum bağlantısını açın ya da buraya yapıştırın. Her bağlantı bir kez ve kısa bir süre çalışır.',
    link: 'Oturum bağlantısı',
    new_link: 'Yenisi mi gerekiyor? Sunucuda çalıştırın:',
    incomplete: 'Bu bağlantı eksik: # işaretinden sonra anahtarı yok.',
    by_mail: 'Adresinize bir bağlantı göndeririz. Bir kez ve kısa bir süre çalışır.',
    email: 'E-posta',
    send: 'Bağlantıyı gönder',
    sent: (email: string) => `Bağlantı ${email} adresine gönderildi. Bu sayfayı kapatabilirsiniz.`,
    sign_in: 'Oturum aç',
  },
)
