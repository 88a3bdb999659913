/** The objects of the API, from the declarations of its routes: `make openapi` writes this file. */

export interface Cooperative {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly sector:
    | 'agriculture'
    | 'livestock'
    | 'fishing'
    | 'trading'
    | 'services'
    | 'transport'
    | 'housing'
    | 'handicraft'
    | 'mining'
    | 'savings_credit'
    | 'other'
    | null;
  readonly province: string | null;
  readonly district: string | null;
  readonly registration_date: string | null;
  readonly status: 'active' | 'inactive' | 'dissolved';
  readonly members_count: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Member {
  readonly id: string;
  readonly member_code: string;
  readonly full_name: string;
  readonly identity_card: string;
  readonly mobile: string | null;
  readonly gender: 'MALE' | 'FEMALE' | 'OTHER' | null;
  readonly role:
    | 'MEMBER'
    | 'PRESIDENT'
    | 'VICE_PRESIDENT'
    | 'SECRETARY'
    | 'TREASURER'
    | 'ADVISOR'
    | 'AUDITOR'
    | 'MANAGER';
  readonly status: 'active' | 'inactive' | 'suspended' | 'withdrawn' | 'deceased';
  readonly cooperative: CooperativeReference;
  readonly registration_date: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly date_of_birth: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CooperativeReference {
  readonly id: string;
  readonly code: string;
  readonly name: string;
}

export interface MemberRow {
  readonly id: string;
  readonly member_code: string;
  readonly full_name: string;
  readonly identity_card: string;
  readonly mobile: string | null;
  readonly gender: Member['gender'];
  readonly role: Member['role'];
  readonly status: Member['status'];
  readonly cooperative: CooperativeReference;
  readonly registration_date: string;
}

export interface ConsolidatedMember {
  readonly identity_card: string;
  readonly primary_full_name: string;
  readonly name_variants: readonly string[];
  readonly gender: Member['gender'];
  readonly date_of_birth: string | null;
  readonly mobile: string | null;
  readonly memberships: readonly Membership[];
  readonly current_identity_card?: string;
}

export interface Membership {
  readonly cooperative: CooperativeReference;
  readonly member_code: string;
  readonly full_name: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly role: Member['role'];
  readonly status: Member['status'];
  readonly registration_date: string;
  readonly mobile: string | null;
  readonly production_summary: ProductionSummary | null;
  readonly loan_history: readonly LoanHistoryEntry[] | null;
  readonly savings_summary: SavingsSummary | null;
  readonly current_identity_card?: string;
}

export interface ProductionSummary {
  readonly window_days: number;
  readonly entries_count: number;
  readonly total_kg: string;
  readonly last_delivery_at: string | null;
}

export interface LoanHistoryEntry {
  readonly id: string;
  readonly amount: string;
  readonly interest_rate: string;
  readonly status: 'pending' | 'approved' | 'rejected' | 'cancelled' | 'paid' | 'defaulted';
  readonly paid_amount: string;
  readonly loan_start_date: string | null;
  readonly loan_end_date: string | null;
  readonly approved_at: string | null;
}

export interface SavingsSummary {
  readonly accounts_count: number;
  readonly total_contributions_rwf: string;
  readonly total_withdrawals_rwf: string;
  readonly last_transaction_at: string | null;
}

export interface Delivery {
  readonly id: string;
  readonly reference: string;
  readonly delivered_at: string;
  readonly kg: string;
  readonly product: string | null;
}

export interface SavingsTransaction {
  readonly id: string;
  readonly account_number: string;
  readonly reference: string;
  readonly kind: 'contribution' | 'withdrawal';
  readonly amount: string;
  readonly transacted_at: string;
}

export interface ExportedDelivery {
  readonly id: string;
  readonly reference: string;
  readonly delivered_at: string;
  readonly kg: string;
  readonly product: string | null;
  readonly member: LoanMember;
  readonly cooperative: CooperativeReference;
}

export interface LoanMember {
  readonly id: string;
  readonly identity_card: string | null;
  readonly full_name: string;
}

export interface ExportedSavingsTransaction {
  readonly id: string;
  readonly account_number: string;
  readonly reference: string;
  readonly kind: SavingsTransaction['kind'];
  readonly amount: string;
  readonly transacted_at: string;
  readonly member: LoanMember;
  readonly cooperative: CooperativeReference;
}

export interface Loan {
  readonly id: string;
  readonly amount: string;
  readonly interest_rate: string;
  readonly status: LoanHistoryEntry['status'];
  readonly paid_amount: string;
  readonly loan_start_date: string | null;
  readonly loan_end_date: string | null;
  readonly approved_at: string | null;
  readonly member: LoanMember;
  readonly cooperative: CooperativeReference;
  readonly reference: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface Payment {
  readonly id: string;
  readonly loan_id: string;
  readonly amount: string;
  readonly method: 'cash' | 'bank' | 'mobile_money' | 'deduction';
  readonly reference: string;
  readonly status: 'recorded' | 'void';
  readonly paid_at: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly member: LoanMember;
  readonly cooperative: CooperativeReference;
}

export interface Statistics {
  readonly as_of: string;
  readonly sequence: number;
  readonly members: MemberStatistics;
  readonly production: readonly MonthOfProduct[] | null;
  readonly loans: LoansByStatus | null;
  readonly savings: SavingsStatistics | null;
}

export interface MemberStatistics {
  readonly total: number;
  readonly by_status: {
    readonly active: number;
    readonly inactive: number;
    readonly suspended: number;
    readonly withdrawn: number;
    readonly deceased: number;
  };
  readonly by_gender: {
    readonly MALE: number;
    readonly FEMALE: number;
    readonly OTHER: number;
    readonly unknown: number;
  };
  readonly by_role: {
    readonly MEMBER: number;
    readonly PRESIDENT: number;
    readonly VICE_PRESIDENT: number;
    readonly SECRETARY: number;
    readonly TREASURER: number;
    readonly ADVISOR: number;
    readonly AUDITOR: number;
    readonly MANAGER: number;
  };
  readonly by_joining_year: { readonly [name: string]: number };
}

export interface MonthOfProduct {
  readonly month: string;
  readonly product: string | null;
  readonly deliveries: number;
  readonly total_kg: string;
}

export interface LoansByStatus {
  readonly pending: LoanStatistics;
  readonly approved: LoanStatistics;
  readonly rejected: LoanStatistics;
  readonly cancelled: LoanStatistics;
  readonly paid: LoanStatistics;
  readonly defaulted: LoanStatistics;
}

export interface LoanStatistics {
  readonly count: number;
  readonly amount: string;
  readonly paid_amount: string;
  readonly outstanding: string;
}

export interface SavingsStatistics {
  readonly accounts: number;
  readonly total_contributions_rwf: string;
  readonly total_withdrawals_rwf: string;
  readonly balance_rwf: string;
}

export interface CountryStatistics {
  readonly as_of: string;
  readonly sequence: number;
  readonly members: MemberStatistics;
  readonly production: readonly MonthOfProduct[] | null;
  readonly loans: LoansByStatus | null;
  readonly savings: SavingsStatistics | null;
  readonly districts: readonly {
    readonly district: string | null;
    readonly cooperatives: number;
    readonly active_members: number;
  }[];
  readonly sectors: readonly {
    readonly sector: Cooperative['sector'];
    readonly cooperatives: number;
    readonly active_members: number;
  }[];
}

export interface EventPage {
  readonly epoch: string;
  readonly results: readonly Event[];
  readonly last_sequence: number;
}

export interface Event {
  readonly type:
    | 'cooperative.created'
    | 'cooperative.updated'
    | 'cooperative.deleted'
    | 'member.created'
    | 'member.updated'
    | 'member.deleted'
    | 'loan.created'
    | 'loan.updated'
    | 'loan.deleted'
    | 'payment.created'
    | 'payment.updated'
    | 'payment.deleted';
  readonly timestamp: string;
  readonly sequence: number;
  readonly actor: string;
  readonly data: {
    readonly id: string;
    readonly cooperative_id: string;
    readonly fields_changed: readonly string[];
  };
}

/** A page of a list, as in docs/api.md#lists. */
export interface Page<Row> {
  /** All rows of the list, exact. */
  readonly count: number;
  /** A link, with `publicUrl` a complete one; null on the last page. */
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Row[];
}

/** What each operation gives; an export gives many. */

export interface Results {
  listCooperatives: Page<Cooperative>;
  exportCooperatives: Cooperative;
  getCooperative: Cooperative;
  exportMembers: Member;
  listMembers: Page<MemberRow>;
  listCooperativeMembers: Page<MemberRow>;
  getMember: ConsolidatedMember | Member;
  listDeliveries: Page<Delivery>;
  listSavingsTransactions: Page<SavingsTransaction>;
  exportDeliveries: ExportedDelivery;
  exportSavingsTransactions: ExportedSavingsTransaction;
  getMembership: Membership;
  listLoans: Page<Loan>;
  exportLoans: Loan;
  getLoan: Loan;
  listPayments: Page<Payment>;
  exportPayments: Payment;
  getPayment: Payment;
  getCooperativeStatistics: Statistics;
  getStatistics: CountryStatistics;
  listEvents: EventPage;
}

/** The query parameters of each operation. */

export interface Queries {
  listCooperatives: {
    readonly page?: number | undefined;
    readonly page_size?: number | undefined;
    readonly code?: string | undefined;
    readonly status?: string | undefined;
    readonly sector?: string | undefined;
    readonly district?: string | undefined;
    readonly search?: string | undefined;
  };
  exportCooperatives: { readonly status?: string | undefined };
  exportMembers: {
    readonly cooperative?: string | undefined;
    readonly status?: Member['status'] | undefined;
  };
  listMembers: {
    readonly page?: number | undefined;
    readonly page_size?: number | undefined;
    readonly identity_card?: string | undefined;
    readonly status?: Member['status'] | undefined;
    readonly member_code?: string | undefined;
    readonly mobile?: string | undefined;
    readonly search?: string | undefined;
    readonly cooperative?: string | undefined;
  };
  listCooperativeMembers: {
    readonly page?: number | undefined;
    readonly page_size?: number | undefined;
    readonly identity_card?: string | undefined;
    readonly status?: Member['status'] | undefined;
    readonly member_code?: string | undefined;
    readonly mobile?: string | undefined;
    readonly search?: string | undefined;
  };
  listDeliveries: {
    readonly page?: number | undefined;
    readonly page_size?: number | undefined;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly product?: string | undefined;
  };
  listSavingsTransactions: {
    readonly page?: number | undefined;
    readonly page_size?: number | undefined;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
  };
  exportDeliveries: { readonly cooperative?: string | undefined };
  exportSavingsTransactions: { readonly cooperative?: string | undefined };
  listLoans: {
    readonly page?: number | undefined;
    readonly page_size?: number | undefined;
    readonly identity_card?: string | undefined;
    readonly cooperative?: string | undefined;
    readonly reference?: string | undefined;
    readonly updated_since?: string | undefined;
    readonly member?: string | undefined;
    readonly status?: LoanHistoryEntry['status'] | undefined;
  };
  exportLoans: {
    readonly cooperative?: string | undefined;
    readonly status?: LoanHistoryEntry['status'] | undefined;
  };
  listPayments: {
    readonly page?: number | undefined;
    readonly page_size?: number | undefined;
    readonly identity_card?: string | undefined;
    readonly cooperative?: string | undefined;
    readonly reference?: string | undefined;
    readonly updated_since?: string | undefined;
    readonly loan?: string | undefined;
    readonly status?: Payment['status'] | undefined;
  };
  exportPayments: {
    readonly cooperative?: string | undefined;
    readonly status?: Payment['status'] | undefined;
  };
  getStatistics: { readonly district?: string | undefined };
  listEvents: {
    readonly after?: number | undefined;
    readonly limit?: number | undefined;
    readonly wait?: number | undefined;
    readonly types?: string | undefined;
    readonly epoch?: string | undefined;
  };
}
