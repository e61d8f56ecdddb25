package io.github.pulsarspark.inspect.view

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.options.MetadataOptions

/** A table of what is known of topics, one object for each value of the option `metadata`. SQL, DataFrames, the Python
  * package and the command line show its rows.
  */
private[pulsarspark] trait MetadataView {

  /** Value of the option `metadata`; the last part of the table's name in a catalog. */
  def name: String

  /** All columns, each with a comment. */
  def columns: StructType

  /** The options that change the rows, besides those of the cluster. */
  def takes: TakenOptions

  /** Fails with a named condition unless the options have what the rows need. Sends no request. */
  def check(options: MetadataOptions): Unit

  /** The rows, with all columns. Those that the request does not use may be null, so that they cost nothing. */
  def rows(request: MetadataRequest): Iterator[InternalRow]
}
