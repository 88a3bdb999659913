/**
 * Known headings of files, besides the names of columns and their labels. One spelling of each is enough,
 * because headings are compared folded (`fold-and-misspellings.ts`). Ambiguous headings are left out and need
 * a map: `Secteur` is also a place, `Quantité` may be litres, `Contact` may be a name.
 */

import { byKind, type ImportKind } from '../../registry/file-columns.ts';
import { foldPhrase, listed } from '../reading/fold-and-misspellings.ts';

type Headings = { readonly [column: string]: readonly string[] };

const COOPERATIVE_CODE = `
  Coop code | Cooperative number | Code of the cooperative | Code coop | N° de la coopérative
  Kode ya koperative | Nomero ya koperative`;
const IDENTITY_CARD = `
  NID | NID number | NIN | ID | ID number | Number of ID | ID card | ID card number | National ID
  National ID number | National ID card | National identity number | National identity
  National identification number | Identity card number | Identity number | National identity card | CNI
  N° CNI | CNI N° | Carte d'identité | N° carte d'identité | Carte d'identité nationale | Numéro d'identité
  Identité nationale | N° carte d'identité nationale | ID nationale | Numéro d'identité nationale
  Numéro d'identification nationale | N° de pièce d'identité | Indangamuntu | Nomero y'indangamuntu
  Irangamuntu | Nomero y'irangamuntu | Indangamuntu N° | ID Indangamuntu | NID Indangamuntu`;
const MEMBER_CODE = `
  Member number | Number of member | Member ID | Membership number | Membership code | Membership ID
  Code membre | N° membre | Code adhérent | N° adhérent | Nomero y'umunyamuryango | Kode y'umunyamuryango
  Umunyamuryango N° | Matricule | N° matricule`;
const FULL_NAME = `
  Full names | Name | Names | Member name | Member names | Name of the member | Names of the member
  Complete name | First and last name | Surname and first name | Nom | Noms | Nom complet | Noms complets
  Nom et prénom | Nom et prénoms | Noms et prénom | Noms et prénoms | Prénom et nom | Prénoms et nom
  Prénoms et noms | Nom du membre | Noms du membre | Noms des membres | Nom des membres | Nom de l'adhérent
  Nom & post-nom | Amazina | Izina | Amazina yombi | Amazina yose | Amazina y'umunyamuryango
  Amazina y'abanyamuryango | Izina ry'umunyamuryango`;
const REFERENCE = `
  Ref | Ref number | Reference number | N° référence | N° réf | Receipt | Receipt number | Voucher
  Voucher number | Slip number | Transaction ID | Reçu | N° reçu | Bordereau | N° bordereau | N° de bon
  N° de pièce | Nomero y'inyemezabuguzi | Inyemezabuguzi | Nomero y'inyemezabwishyu | Inyemezabwishyu`;
const STATUS = 'État | Imimerere | Uko ahagaze';
const DATE = 'Date | Itariki';
const AMOUNT = "Umubare w'amafaranga";

const TEXTS: { readonly [kind in ImportKind]: { readonly [column: string]: string } } = {
  cooperatives: {
    code: `Cooperative code | ${COOPERATIVE_CODE}`,
    name: `
      Cooperative | Cooperative name | Name of the cooperative | Coop name | Names | Nom de la coopérative
      Dénomination | Raison sociale | Izina rya koperative | Koperative | Amazina ya koperative`,
    sector: 'Activity | Activité | Activités',
    registration_date: `
      Date of registration | Registered on | Date registered | Date d'enregistrement | Date d'agrément
      Enregistrée le | Itariki yandikiweho | Itariki yanditsweho | Itariki y'iyandikwa`,
    status: `${STATUS} | Cooperative status | Statut de la coopérative`,
  },
  members: {
    cooperative_code: COOPERATIVE_CODE,
    identity_card: IDENTITY_CARD,
    member_code: MEMBER_CODE,
    full_name: FULL_NAME,
    first_name: `
      First names | Given name | Given names | Forename | Forenames | Christian name | Other names | Prénoms
      Izina ry'idini | Izina rya gikirisitu`,
    last_name: 'Last names | Surname | Family name',
    gender: 'Sex | Genre',
    date_of_birth: `
      DOB | DDN | Date naiss. | Birth date | Birthday | Born | Born on | Né le | Née le | Itariki yavukiyeho
      Yavutse | Igihe yavukiye`,
    mobile: `
      Mobile phone | Mobile number | Phone | Phone number | Telephone number | Tel | Tel number | Cell phone
      Contact number | Contact phone | Mobile phone number | Numéro téléphone | N° tél | Tél. portable
      Portable | N° portable | GSM | Numéro de téléphone portable | Telefoni 1 | Phone 1 | Tel 1
      Telephone 1 | Nomero ya telefoni | Telefoni igendanwa`,
    role: `
      Function | Position | Position in the cooperative | Role in the cooperative | Responsibility | Poste
      Responsabilité | Inshingano | Icyo ashinzwe`,
    status: `
      ${STATUS} | Member status | Membership status | Statut du membre | Imimerere y'umunyamuryango
      Imiterere y'umunyamuryango`,
    registration_date: `
      Date of registration | Registered | Registered on | Date registered | Date joined | Joined on
      Join date | Joining date | Date of joining | Member since | Membership date | Admission date
      Date of admission | Entry date | Date of entry | Date d'inscription | Date d'enregistrement
      Date d'entrée | Membre depuis | Date d'affiliation | Itariki yinjiriyeho | Itariki yinjiyeho
      Igihe yinjiriye | Itariki yinjiyemo | Itariki yinjiriyemo | Itariki yo kwinjira | Itariki y'iyandikwa
      Itariki yandikiwe | Itariki yandikiweho | Itariki yiyandikishije | Igihe yinjiyemo`,
  },
  production: {
    cooperative_code: COOPERATIVE_CODE,
    identity_card: IDENTITY_CARD,
    member_code: MEMBER_CODE,
    full_name: FULL_NAME,
    reference: `${REFERENCE} | Delivery number | Delivery note | N° livraison | Bon de livraison`,
    delivered_at: `
      ${DATE} | Delivery date | Date of delivery | Delivered | Date delivered | Date of supply
      Date de livraison | Date de réception | Date de collecte | Itariki yagemuye | Itariki yagemuriyeho
      Itariki y'umusaruro | Itariki yatangiweho | Itariki yo kugemura | Itariki yazaniyeho`,
    kg: `
      Kgs | Kilo | Kilos | Kilogram | Kilogramme | Weight | Weight in kg | Quantity (kg) | Quantity in kg
      Qty (kg) | Quantité (kg) | Quantité en kg | Qté (kg) | Quantités (kg) | Nombre de kg | Number of kg
      Poids | Poids en kg | Poids net | Net weight | Kg livrés | Kg delivered | Cherries (kg) | Cerises (kg)
      Ibitumbwe (kg) | Ibiro by'ibitumbwe | Uburemere | Umusaruro (kg) | Ibiro by'umusaruro | Ingano (kg)
      Ibiro yagemuye`,
    product: `
      Products | Crop | Commodity | Type of product | Product type | Culture | Type de produit
      Nature du produit | Umusaruro | Ubwoko bw'umusaruro | Ubwoko bw'igihingwa | Igicuruzwa`,
  },
  loans: {
    cooperative_code: COOPERATIVE_CODE,
    identity_card: IDENTITY_CARD,
    member_code: MEMBER_CODE,
    full_name: FULL_NAME,
    reference: `
      ${REFERENCE} | Loan number | Loan reference | Loan ID | Loan code | N° prêt | N° crédit
      Référence du prêt | N° dossier | Code du prêt | Code du crédit | Nomero y'inguzanyo`,
    amount: `
      ${AMOUNT} | Loan amount | Amount of loan | Loan | Principal | Montant du prêt | Montant du crédit
      Montant emprunté | Prêt | Inguzanyo | Amafaranga y'inguzanyo | Ingano y'inguzanyo`,
    interest_rate: `
      Rate | Rate of interest | Annual rate | Annual interest rate | Taux | Taux d'intérêt
      Taux d'intérêt annuel | Taux annuel | Igipimo cy'inyungu | Inyungu (%)`,
    status: `
      ${STATUS} | Loan status | Statut du prêt | Statut du crédit | Imimerere y'inguzanyo
      Imiterere y'inguzanyo`,
    paid_amount: `
      Amount paid | Paid | Amount repaid | Repaid | Montant payé | Payé | Montant remboursé | Paid so far
      Repaid so far | Already paid | Total paid | Déjà payé | Déjà remboursé | Total payé | Total remboursé
      Remboursé | Amafaranga yishyuwe | Ayishyuwe | Yishyuwe | Ayo amaze kwishyura`,
    paid_until: `
      Paid up to | Repaid until | Repaid up to | Payé jusqu'au | Date de situation | Yishyuwe kugeza
      Ayishyuwe kugeza`,
    loan_start_date: `
      Start date | Loan start | Loan date | Date of loan | Disbursement date | Date of disbursement
      Date disbursed | Date de début | Début | Date du prêt | Date du crédit | Date de décaissement
      Date d'octroi | Itariki y'inguzanyo | Itariki yatangiriyeho | Itariki yayiherewe`,
    loan_end_date: `
      End date | Loan end | Due date | Maturity | Maturity date | Date de fin | Échéance | Date d'échéance
      Itariki izarangiriraho | Itariki irangiriraho | Itariki ntarengwa`,
    approved_at: `
      Approval date | Date of approval | Date approved | Date d'approbation | Itariki yemejweho
      Itariki yemerejweho`,
  },
  payments: {
    cooperative_code: COOPERATIVE_CODE,
    full_name: FULL_NAME,
    loan_reference: `
      Loan number | Loan ID | Loan code | Loan ref | N° prêt | N° crédit | Référence du prêt | Réf prêt
      Code du prêt | Code du crédit | N° dossier | Nomero y'inguzanyo | Kode y'inguzanyo`,
    reference: `
      ${REFERENCE} | Payment number | Payment ID | Payment reference | Payment ref | N° paiement
      Référence du paiement | N° remboursement | N° quittance | Quittance`,
    amount: `
      ${AMOUNT} | Amount paid | Paid | Paid amount | Payment | Payment amount | Amount repaid | Repayment
      Montant payé | Montant remboursé | Montant versé | Montant du paiement | Remboursement
      Amafaranga yishyuwe | Ayishyuwe | Yishyuye | Ayo yishyuye`,
    method: `
      Payment method | Method of payment | Payment mode | Mode of payment | Means of payment
      Mode de règlement | Mode de versement | Moyen de paiement | Uburyo yishyuyemo | Uburyo bw'ubwishyu`,
    paid_at: `
      ${DATE} | Payment date | Date of payment | Date paid | Repayment date | Date of repayment
      Date de paiement | Date de versement | Date de remboursement | Itariki yo kwishyura
      Itariki yishyuriyeho | Itariki yishyuyeho`,
    status: `${STATUS} | Payment status | Statut du paiement | Imimerere y'ubwishyu | Imiterere y'ubwishyu`,
  },
  savings: {
    cooperative_code: COOPERATIVE_CODE,
    identity_card: IDENTITY_CARD,
    member_code: MEMBER_CODE,
    full_name: FULL_NAME,
    account_number: `
      Account | Account code | Acc number | A/C number | Compte | N° compte | Konti | Nomero ya konti
      Konti N° | Compte N° | Compte d'épargne | N° compte d'épargne`,
    reference: `${REFERENCE} | Transaction number | Transaction reference | N° transaction | N° d'opération`,
    kind: `
      Type | Transaction type | Type of transaction | Operation | Transaction kind | Type d'opération
      Nature de l'opération | Igikorwa | Ubwoko bw'igikorwa`,
    amount: `
      ${AMOUNT} | Montant versé | Montant de l'opération | Transaction amount | Amount of transaction`,
    transacted_at: `
      ${DATE} | Transaction date | Date of transaction | Date d'opération | Itariki y'igikorwa
      Itariki yabikijeho`,
  },
};

export const HEADINGS = byKind(
  (kind): Headings =>
    Object.fromEntries(Object.entries(TEXTS[kind]).map(([column, text]) => [column, listed(text)])),
);

/** Headings that mean family names if the file also has a column of first names, otherwise full names. */
export const SINGLE_NAMES = new Set(['Nom', 'Noms', 'Name', 'Izina'].map(foldPhrase));

/** By column, texts in brackets that leave a heading's meaning unchanged, as in `Montant (Frw)`. */
export const BRACKETS: Headings = {
  identity_card: ['16 digits', '16 chiffres', 'imibare 16', 'NID', 'ID'],
  gender: ['M/F', 'F/M', 'H/F', 'F/H', 'Gabo/Gore', 'Male/Female'],
  kg: ['kg', 'kgs', 'kilos'],
  amount: ['Frw', 'Rwf', 'Francs'],
  paid_amount: ['Frw', 'Rwf', 'Francs'],
  ...Object.fromEntries(
    ['date_of_birth', 'registration_date', 'delivered_at', 'transacted_at', 'paid_at'].map((column) => [
      column,
      ['dd/mm/yyyy', 'jj/mm/aaaa', 'yyyy-mm-dd', 'aaaa-mm-jj'],
    ]),
  ),
};
