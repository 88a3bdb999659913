/**
 * Words for choices in English, French and Kinyarwanda. Words are compared folded
 * (`./fold-and-misspellings.ts`). Ambiguous words are left out and need a map: `Démissionnaire` may or may
 * not mean that the member has withdrawn. Words for an empty cell are in
 * `formats/spreadsheet-cells-and-empty-words.ts`, because exports need them too.
 */

import type { CooperativeStatus, Sector } from '../../registry/cooperatives.ts';
import type { TransactionKind } from '../../registry/entries.ts';
import type { ImportKind } from '../../registry/file-columns.ts';
import type { LoanStatus } from '../../registry/loans.ts';
import type { Gender, MemberStatus, Role } from '../../registry/members.ts';
import type { PaymentMethod, PaymentStatus } from '../../registry/payments.ts';
import { listed } from './fold-and-misspellings.ts';

export type Words<Choice extends string> = { readonly [choice in Choice]?: readonly string[] };

const ACTIVE = ['actif', 'active', 'en activité', 'active member', 'akora', 'arakora', 'irakora', 'ikora'];
const INACTIVE = ['inactif', 'inactive', 'non actif', 'non active', 'not active', 'ntakora', 'ntikora'];

export const GENDER_WORDS: Words<Gender> = {
  MALE: listed(`
    masculin | masc | mâle | homme | h | man | boy | garçon | umugabo | umuhungu | igitsina gabo`),
  FEMALE: listed(`
    féminin | fém | femelle | femme | woman | girl | fille | umugore | umukobwa | igitsina gore`),
  OTHER: ['autre'],
};

export const MEMBER_STATUS_WORDS: Words<MemberStatus> = {
  active: ACTIVE,
  inactive: INACTIVE,
  suspended: ['suspendu', 'suspendue', 'yahagaritswe', 'arahagaritswe'],
  withdrawn: ['withdrew', 'left', 'retiré', 'retirée', 'parti', 'partie', 'a quitté', 'yavuyemo'],
  deceased: ['décédé', 'décédée', 'dead', 'died', 'mort', 'morte', 'yapfuye', 'yarapfuye', 'yitabye Imana'],
};

export const COOPERATIVE_STATUS_WORDS: Words<CooperativeStatus> = {
  active: ACTIVE,
  inactive: INACTIVE,
  dissolved: ['dissous', 'dissoute', 'yasheshwe', 'yarasheshwe'],
};

export const LOAN_STATUS_WORDS: Words<LoanStatus> = {
  pending: ['en attente', 'waiting', 'irategereje', 'itegereje'],
  approved: ['approuvé', 'accordé', 'granted', 'yemejwe', 'yemewe'],
  rejected: ['rejeté', 'refusé', 'refused', 'yanzwe'],
  cancelled: ['annulé', 'canceled'],
  paid: ['payé', 'remboursé', 'soldé', 'repaid', 'fully paid', 'paid off', 'yishyuwe', 'yarishyuwe'],
  defaulted: ['en défaut', 'in default', 'default'],
};

export const PAYMENT_METHOD_WORDS: Words<PaymentMethod> = {
  cash: ['in cash', 'espèces', 'en espèces', 'liquide', 'argent liquide', 'numéraire', 'mu ntoki'],
  bank: listed(`
    bank transfer | bank deposit | banque | virement | virement bancaire | versement bancaire | banki
    kuri banki | muri banki`),
  mobile_money: listed(`
    momo | momo pay | mtn momo | mtn mobile money | airtel money | airtel mobile money | argent mobile
    paiement mobile`),
  deduction: listed(`
    deducted | deduct | withheld | retenue | retenue sur livraison | prélèvement | déduit | yakaswe
    gukatwa | yakaswe ku musaruro`),
};

export const PAYMENT_STATUS_WORDS: Words<PaymentStatus> = {
  recorded: ['enregistré', 'enregistrée', 'valide', 'valid', 'yanditswe'],
  void: ['voided', 'annulé', 'annulée', 'cancelled', 'canceled', 'reversed'],
};

export const ROLE_WORDS: Words<Role> = {
  MEMBER: listed(`
    ordinary member | simple member | membre | membre simple | membre ordinaire | simple membre | adhérent
    adhérente | umunyamuryango | umunyamuryango usanzwe`),
  PRESIDENT: ['présidente', 'chairperson', 'chairman', 'chairwoman', 'chair', 'perezida', 'perezidante'],
  VICE_PRESIDENT: listed(`
    VP | v/president | v/président | v/présidente | vice | vice-présidente | deputy president
    vice chairperson | vice chairman | vice chair | visi perezida | vice perezida | perezida wungirije
    visi-perezidante`),
  SECRETARY: ['secrétaire', 'umunyamabanga', 'umwanditsi'],
  TREASURER: ['trésorier', 'trésorière', 'umubitsi'],
  ADVISOR: ['adviser', 'conseiller', 'conseillère', 'umujyanama'],
  AUDITOR: ['auditeur', 'auditrice', 'commissaire aux comptes', 'umugenzuzi'],
  MANAGER: ['gérant', 'gérante', 'umucungamutungo'],
};

export const SECTOR_WORDS: Words<Sector> = {
  agriculture: ['agricole', 'agricultural', 'farming', 'ubuhinzi'],
  livestock: ['élevage', 'ubworozi', 'animal husbandry'],
  fishing: ['pêche', 'fisheries', 'fishery', 'uburobyi'],
  trading: ['trade', 'commerce', 'ubucuruzi'],
  services: ['service', 'serivisi'],
  transport: ['transports', 'transportation', 'ubwikorezi'],
  housing: ['logement', 'habitat', 'imiturire'],
  handicraft: ['handicrafts', 'craft', 'crafts', 'artisanat', 'ubukorikori'],
  mining: ['mines', 'mine', 'exploitation minière', 'ubucukuzi', "ubucukuzi bw'amabuye y'agaciro"],
  savings_credit: listed(`
    savings and credit | saving and credit | savings & credit | sacco | épargne et crédit | épargne & crédit
    kubitsa no kuguriza | kuzigama no kuguriza`),
  other: ['others', 'autre', 'autres', 'ibindi'],
};

export const TRANSACTION_KIND_WORDS: Words<TransactionKind> = {
  contribution: listed(`
    contributions | deposit | saving | dépôt | versement | cotisation | épargne | kubitsa | ubwizigame
    kuzigama | umusanzu`),
  withdrawal: ['withdrawals', 'withdraw', 'retrait', 'kubikuza'],
};

export const WORDS: { readonly [kind in ImportKind]?: { readonly [field: string]: Words<string> } } = {
  cooperatives: { sector: SECTOR_WORDS, status: COOPERATIVE_STATUS_WORDS },
  members: { role: ROLE_WORDS, status: MEMBER_STATUS_WORDS },
  loans: { status: LOAN_STATUS_WORDS },
  payments: { method: PAYMENT_METHOD_WORDS, status: PAYMENT_STATUS_WORDS },
  savings: { kind: TRANSACTION_KIND_WORDS },
};
