package io.github.pulsarspark.storage.offload.format

/** A copy that may well be whole, in a form that is not read here. */
private[offload] final class UnsupportedOffload(val form: String) extends RuntimeException(form, null, false, false)
