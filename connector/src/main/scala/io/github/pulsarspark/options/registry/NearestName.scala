package io.github.pulsarspark.options.registry

/** The "did you mean" rule, the same as in the Python package: the known name with the least edit distance, letter case
  * aside, if that is at most a third of the longer name. Ties go to the first name in alphabetical order.
  */
private[pulsarspark] object NearestName {

  def apply(name: String, known: Seq[String]): Option[String] =
    known.sorted
      .map(candidate => candidate -> distance(name.toLowerCase, candidate.toLowerCase))
      .filter { case (candidate, d) => d <= math.max(name.length, candidate.length) / 3 }
      .minByOption(_._2)
      .map(_._1)

  /** Levenshtein's distance. */
  def distance(a: String, b: String): Int =
    b.indices
      .foldLeft((0 to a.length).toVector) { (row, j) =>
        a.indices.scanLeft(j + 1)((left, i) =>
          Seq(left + 1, row(i + 1) + 1, row(i) + (if (a(i) == b(j)) 0 else 1)).min
        ).toVector
      }
      .last
}
