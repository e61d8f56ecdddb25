package io.github.pulsarspark.format

/** Reports which decided transactions were aborted. */
private[pulsarspark] trait TransactionView {

  /** Fails with [[UndecidedTransaction]] when that is unknown. */
  def isAborted(mostBits: Long, leastBits: Long): Boolean
}

private[pulsarspark] object TransactionView {

  /** View of entries without those of aborted transactions, which the broker has removed. */
  val NothingAborted: TransactionView = (_, _) => false
}

/** Reports that the outcome of a transaction is unknown here, with the reason. The reader falls back to the broker,
  * which knows it.
  */
private[pulsarspark] final class UndecidedTransaction(reason: String)
    extends RuntimeException(reason, null, false, false)
