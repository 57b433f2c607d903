// The tables of all configuration keys.
#pragma once

#include "config/fields/gateway_fields.h"
#include "config/fields/model_fields.h"
#include "config/fields/tool_fields.h"
